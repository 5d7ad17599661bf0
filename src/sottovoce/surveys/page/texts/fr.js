// Les mots de la page elle-même, en français.
export const words = {
  language: "Langue",
  asks: "Qui demande : {asker}.",
  contact: "Des questions ? {contact}",
  about: "Questions : {count}. Les réponses sont acceptées jusqu’au {until}.",
  promise: {
    deniable: [
      "Votre réponse passe d’abord par des pièces",
      "Avant tout envoi, votre propre appareil lance des pièces qui changent parfois votre réponse. Ce que vous " +
      "avez vraiment répondu ne quitte jamais cet appareil. Ce qui est envoyé peut être votre réponse ou le hasard, " +
      "et personne ne peut savoir lequel des deux.",
    ],
    weak: [
      "La protection est faible dans cette enquête",
      "Avant tout envoi, votre propre appareil lance des pièces qui changent parfois vos réponses. Dans cette " +
      "enquête, ce qui est envoyé dit pourtant beaucoup de vous, par une réponse ou par toutes ensemble. Regardez " +
      "les nombres avant de commencer.",
    ],
    veryWeak: [
      "Vos réponses ne sont guère protégées dans cette enquête",
      "Avant tout envoi, votre propre appareil lance des pièces, mais dans cette enquête cela ne vous protège guère " +
      ": qui lit tout ce que vous envoyez peut devenir presque certain d’une de vos réponses, ou de toutes " +
      "ensemble. Ne répondez que ce que d’autres peuvent savoir.",
    ],
  },
  consentTitle: "Avant de commencer",
  agree: "J’accepte",
  understandingTitle: "Supposons que le envoi d’une personne dise « {answer} ». Qu’apprend-on sur cette personne ?",
  understandingWrong: "Que sa réponse était « {answer} ».",
  understandingRight: "Rien de certain : le hasard l’envoie aussi pour des personnes qui ont une autre réponse.",
  understood: "Oui.",
  misunderstood: "Non : rien de certain.",
  share: "{count} sur 100",
  rareShare: "une sur {people}",
  noShare: "aucune des",
  facts: {
    yes_no:
      "Parmi les personnes pour qui ce n’est pas vrai, {first} envoient aussi « {yes} » ; parmi celles pour qui " +
      "c’est vrai, {second} envoient « {no} ».",
    answers:
      "Parmi les personnes qui ont n’importe quelle autre réponse, au moins {share} envoient aussi chacune des " +
      "réponses.",
    set:
      "Plusieurs réponses sont envoyées à la fois. Parmi les personnes qui ont n’importe quelle autre réponse, " +
      "chaque réponse figure dans l’envoi d’au moins {share}.",
    items:
      "Parmi les personnes qui ne l’ont pas fait, au moins {first} envoient aussi chaque choix ; parmi celles qui " +
      "l’ont fait, au moins {second} l’omettent.",
    symbols:
      "Ce qui est envoyé n’est pas une réponse, mais un signe. Chaque signe est envoyé par au moins {share}, quelle " +
      "que soit la réponse.",
  },
  ifPicked: "Si votre appareil choisit cette question :",
  amongPicked: "Parmi les personnes dont l’appareil choisit cette question :",
  sharedCoins: "D’autres questions partagent ses pièces ; cela vaut quoi que vous y répondiez.",
  alsoYes: "Aussi envoyé par {share} des personnes pour qui ce n’est pas vrai.",
  alsoNo: "Aussi envoyé par {share} des personnes pour qui c’est vrai.",
  also: {
    answers: "Aussi envoyé par au moins {share} des personnes qui ont n’importe quelle autre réponse.",
    set: "Chacune est aussi envoyée par au moins {share} des personnes qui ont n’importe quelle autre réponse.",
    symbols: "Aussi envoyé par au moins {share} des personnes, quelle que soit leur réponse.",
  },
  alsoChosen: "Chacun de ces choix est aussi envoyé par au moins {share} des personnes qui ne l’ont pas fait.",
  alsoLeft: "Chaque choix qui manque est aussi omis par au moins {share} des personnes qui l’ont fait.",
  never: {
    two:
      "Parmi les personnes qui ont l’autre réponse, au moins {share} envoient aussi « {sent} » ; « {only} » n’est " +
      "envoyé que par des personnes qui ont répondu ainsi.",
    some: "Le hasard n’envoie pas tout pour tout le monde : ce qui est envoyé peut exclure certaines réponses.",
    only: "Envoyé seulement par des personnes qui ont répondu ainsi.",
    rulesOut: "N’est pas envoyé pour tout le monde : cela exclut certaines réponses.",
    chosen: "Au moins un de ces choix n’est envoyé que par des personnes qui l’ont fait.",
    left: "Au moins un choix qui manque n’est omis que par des personnes qui ne l’ont pas fait.",
  },
  dots: "Sur 100 personnes qui ont une autre réponse, le nombre de celles qui envoient « {answer} » est {count}.",
  dotsSet: "Sur 100 personnes qui ont une autre réponse, le nombre de celles dont l’envoi contient « {answer} » est {count}.",
  learn: {
    team: "L’équipe de l’enquête",
    teamSees: {
      deniable: "voit ce qui est envoyé, après les pièces, et jamais vos réponses",
      weak: "voit ce qui est envoyé, après les pièces, qui dit beaucoup de vos réponses",
      veryWeak: "voit ce qui est envoyé, et peut devenir presque certaine de vos réponses",
    },
    others: "Qui d’autre obtient les données",
    othersSee: "voit la même chose, et rien de plus",
    suspicious: "Quelqu’un qui vous soupçonne",
    odds:
      "devient au plus {each} fois plus sûr de ce que vous avez répondu par ce qui est envoyé sur une question, et " +
      "au plus {all} fois par le tout",
    noOdds: "peut acquérir une certitude : certains envois excluent une réponse",
    network: "Qui gère le serveur ou le réseau",
    device: "Cet appareil",
    deviceKeeps:
      "garde votre envoi jusqu’à ce qu’il soit arrivé, puis seulement le fait que l’enquête a reçu une réponse",
    deviceForgets: "ne garde rien",
  },
  checked:
    "Votre navigateur vient de calculer lui-même ces nombres, et de vérifier que les questions sont celles de " +
    "votre lien.",
  sampled:
    "Votre appareil choisit au hasard {picked} de vos {of} réponses, tire à pile ou face pour celles-ci et " +
    "n’envoie rien sur les autres.",
  sampledOne:
    "Votre appareil choisit au hasard une de vos {of} réponses, tire à pile ou face pour celle-ci et n’envoie " +
    "rien sur les autres.",
  sampledSome:
    "Parmi vos réponses à {of} des questions, votre appareil en choisit {picked} au hasard, tire à pile ou face " +
    "pour ce qu’il a choisi et n’envoie rien sur le reste.",
  later:
    "voit que vous participez. Votre envoi part de lui-même à un moment au hasard dans les {time} après que vous " +
    "avez terminé, pour que l’heure dise peu de qui il vient.",
  atOnce:
    "voit que vous participez. Votre envoi part dès que vous avez terminé, si bien que les heures peuvent révéler " +
    "lequel est le vôtre ; les nombres ci-dessus valent même alors.",
  together:
    "pourrait noter quel envoi est le vôtre : dans cette enquête, il part avec votre invitation. Les nombres " +
    "ci-dessus valent même alors.",
  forgetful: "Ce navigateur ne garde rien pour cette page : laissez-la ouverte jusqu’à l’arrivée de votre envoi.",
  forgetfulVote: "Votre invitation est utilisée dès que vous commencez : un onglet perdu est une voix perdue.",
  insecureTitle: "Pas par cette connexion",
  insecure:
    "Cette connexion n’est pas chiffrée : quelqu’un en chemin pourrait lire ou modifier cette page, et les " +
    "navigateurs lui refusent la cryptographie dont elle a besoin. Rien n’a été demandé. Demandez à l’expéditeur " +
    "un lien qui commence par https.",
  demoTitle: "Essayer d’abord le tirage",
  demoIntro:
    "Faites semblant de répondre, et voyez ce que cent comme vous enverraient. Rien de cela n’est gardé ni " +
    "envoyé.",
  demoPretend: "Supposons que votre réponse soit",
  demoAgain: "Relancer",
  demoMany: "Sur 100 comme vous qui répondent tous « {pretended} », voici combien envoient :",
  demoSets: "Sur 100 comme vous qui répondent tous « {pretended} », voici combien envoient un ensemble qui contient :",
  demoSame: "comme supposé",
  demoOther: "autre chose, par hasard",
  begin: "Commencer",
  momentTitle: "Un instant",
  checking: "Votre invitation est en cours de vérification.",
  admitting:
    "Votre appareil présente votre invitation, et le serveur signe un nombre secret sans le voir. Votre envoi " +
    "partira avec ce nombre, et sans l’invitation.",
  step: "Écran {step} sur {most}",
  several: "Choisissez tout ce qui convient, ou rien.",
  unrelated:
    "Pour {share} des personnes, l’appareil n’utilise pas la réponse à cette question. Il en tire une au hasard, " +
    "selon les fréquences publiées des réponses à une autre question : {unrelated} Il ne pose cette question à " +
    "personne, et ne sait rien de vous.",
  choose: "Veuillez choisir une réponse.",
  unusedTitle: "Cet écran ne sert pas",
  unused:
    "À cause d’une réponse précédente, la question de cet écran n’est pas posée. Tout le monde passe par le même " +
    "nombre d’écrans, pour que la durée en dise moins sur les réponses.",
  back: "Retour",
  next: "Suivant",
  change: "Modifier",
  onDevice: "Rien n’a été envoyé. Ce que vous répondez ici reste sur cet appareil.",
  reviewTitle: "Prêt à envoyer",
  review:
    "Vérifiez vos réponses. Les pièces tombent une seule fois, et rien ne peut être changé ensuite : ce qu’elles " +
    "laissent sera envoyé.",
  reviewSampled:
    "À l’envoi, votre appareil choisit aussi au hasard les réponses qu’il utilise. Rien n’est envoyé sur celles " +
    "qu’il laisse de côté.",
  send: "Lancer les pièces",
  fallenTitle: "Les pièces sont tombées",
  fallen: "Voici ce qui sera envoyé. Cela s’est passé sur votre appareil seulement.",
  fallenAsk: "Montrer ce que les pièces ont fait",
  fallenKept: "C’est ce que vous avez répondu.",
  fallenChanged: "Changé par les pièces. Vous avez répondu : {given}.",
  fallenAmong: "Votre réponse en fait partie.",
  fallenMissing: "Votre réponse n’en fait pas partie. Vous avez répondu : {given}.",
  fallenGone: "Ceci est montré une fois. Cela disparaît quand vous continuez.",
  fallenTime: "Il part de lui-même à {time}, ou quand vous revenez plus tard sur cette page.",
  sendThese: "Envoyer ceci",
  sendingTitle: "Envoi",
  sending: "Envoi en cours.",
  waiting: "Pas encore de connexion. Nouvel essai dans {time}.",
  comeBack: "Vous pouvez aussi revenir plus tard avec ce lien.",
  sealed:
    "Le tirage a eu lieu et vos vraies réponses sont déjà oubliées. Seul l’envoi brouillé est gardé jusqu’à son " +
    "arrivée.",
  waitTitle: "Scellé, en attente d’envoi",
  wait: "Il part de lui-même à un moment tiré au sort, pour que l’heure en dise peu sur son auteur.",
  leaves: "Départ à {time}, {left}.",
  stay: "Veuillez laisser cette page ouverte jusque-là.",
  stayOrReturn: "Si vous la fermez, l’envoi partira quand vous rouvrirez votre lien dans ce navigateur.",
  carryTitle: "L’envoyer d’un autre appareil ou réseau",
  carry:
    "Le lien et le fichier contiennent l’envoi scellé. Ouvrir l’un d’eux où que ce soit envoie exactement cela, " +
    "mais pas avant son heure. Gardez-les pour vous : ils montrent l’envoi brouillé, et qui les possède pourrait " +
    "en envoyer un autre à sa place.",
  carriedLink: "Lien avec l’envoi scellé",
  copy: "Copier le lien",
  copied: "Copié.",
  save: "Enregistrer comme fichier",
  openToSend: "Faire partir l’envoi scellé",
  hold: "Il partira aussi d’ici, sauf si vous l’arrêtez.",
  holdHere: "Ne pas l’envoyer d’ici",
  heldTitle: "Ne part pas d’ici",
  held:
    "Cet appareil garde l’envoi scellé et ne l’envoie pas de lui-même. Il ne compte qu’une fois parti : par le " +
    "lien, par le fichier ou d’ici.",
  sendHere: "L’envoyer d’ici",
  thanksTitle: "Merci",
  thanks: "Votre envoi est arrivé et a été enregistré.",
  sentTitle: "Voici tout ce qui a été envoyé",
  sent:
    "Cela ne prouve rien sur vous : sous chaque ligne figure combien de personnes l’envoient sans que ce soit " +
    "vrai pour elles.",
  sentWeak:
    "Les pièces ont pu le changer. Sous chaque ligne figure combien de personnes l’envoient sans que ce soit vrai " +
    "pour elles.",
  sentPublic:
    "Les réponses aux questions publiques font exception : elles ont été envoyées telles que vous les avez " +
    "données.",
  sentBytes: "Tel que le serveur l’a enregistré :",
  sentWhole: "Chaque octet qui a été envoyé",
  sentCheck: "Quand vous avez ouvert votre lien, pour voir si l’invitation peut être utilisée :",
  sentAdmission:
    "Quand vous avez commencé, pour faire signer un nombre secret que le serveur ne peut pas voir. Votre appareil " +
    "a effacé le nombre masqué, afin que personne n’apprenne par lui quel envoi est le vôtre :",
  sentReport: "Votre envoi, dans une requête à part et sans l’invitation :",
  sentOnly: "Votre envoi :",
  erased: "512 chiffres, effacés",
  nothing: "rien de cela",
  oneOf: "l’une de ces réponses : {said}",
  notAsked: "non demandé",
  leftOut: "rien n’est envoyé sur cette question",
  notPicked: "rien n’a été envoyé sur cette question",
  receipt: "Reçu :",
  kept: "Cet appareil retient seulement que l’enquête a été remplie.",
  keptInvitation: "Cet appareil retient seulement que l’enquête a été remplie avec cette invitation.",
  answeredTitle: "Déjà répondu",
  answered:
    "Cette enquête a été remplie sur cet appareil. Un second envoi, avec un autre tirage, affaiblirait votre " +
    "protection.",
  otherInvitation: "Une autre personne invitée peut répondre sur cet appareil avec le lien complet de son invitation.",
  closedTitle: "Cette enquête est terminée",
  closed: "Les réponses ne sont plus acceptées.",
  links: {
    missing: [
      "Une invitation est nécessaire",
      "Le lien n’a pas d’invitation à la fin. Veuillez utiliser le lien complet que vous avez reçu.",
    ],
    truncated: [
      "Le lien n’est pas complet",
      "La fin manque. Veuillez utiliser le lien complet que vous avez reçu.",
    ],
    mistyped: [
      "Le lien contient une erreur",
      "Sa fin n’est pas une invitation : elle est trop longue, ou a des caractères qu’aucune invitation n’a. " +
      "Veuillez la comparer au lien que vous avez reçu.",
    ],
    spent: [
      "Cette invitation a déjà servi",
      "Si vous avez commencé avec elle sur un autre appareil ou dans un autre navigateur, veuillez continuer " +
      "là-bas. Sinon, quelqu’un d’autre l’a peut-être utilisée.",
    ],
    unknown_invitation: [
      "Cette invitation est inconnue",
      "Elle n’est pas de cette enquête, a été retirée, ou contient une faute de frappe.",
    ],
    invitation: [
      "Cette invitation ne vaut pas",
      "Elle a déjà servi ou n’est pas de cette enquête.",
    ],
    no_key: [
      "Le serveur ne peut pas vous admettre",
      "Il n’a pas la clé de cette enquête. Quand ce sera réparé, revenez avec ce lien dans ce navigateur.",
    ],
  },
  askWhom: "À qui demander : {whom}",
  refusedTitle: "Le serveur n’a pas accepté l’envoi",
  refused: "Rien n’a été redemandé : le tirage n’a lieu qu’une fois. Vous pouvez renvoyer le même envoi.",
  tryAgain: "Réessayer",
  stopTitle: "Ne répondez pas ici",
  stop:
    "Votre navigateur a vérifié cette enquête : elle n’est pas ce que promet votre lien. Rien n’a été demandé ni " +
    "envoyé.",
  falseAdmission:
    "La signature du serveur n’est pas de la clé de cette enquête : un envoi fait avec elle serait refusé, ou " +
    "reconnu. Rien n’a été demandé.",
  noHash: "Le lien n’est pas complet : la partie après # manque ou est trop courte.",
  offlineTitle: "Pas de connexion",
  offline: "L’enquête n’a pas pu être chargée. Rien n’est perdu.",
  audit: "Comment cette enquête fonctionne, et comment le vérifier",
  rehearsal: "Ceci est une répétition : aucune réponse ne compte, et toutes seront supprimées.",
  askSender:
    "Demandez à la personne qui vous a envoyé le lien, mais pas au moyen de cette page : ce qu’elle dit sur la " +
    "personne à contacter a peut-être été modifié aussi.",
  receiptCheck: "Vérifier qu’il est enregistré",
  receiptChecking: "Recherche de votre reçu.",
  receiptStored:
    "Votre envoi est enregistré : votre reçu figure dans la liste qui vient d’être téléchargée (nombre de reçus : " +
    "{count}). Votre appareil a cherché lui-même dans la liste ; le serveur n’a pas appris lequel est le vôtre.",
  receiptMissing:
    "Votre reçu ne figure pas dans la liste du serveur. Conservez le reçu, réessayez plus tard, puis " +
    "renseignez-vous.",
  receiptOffline: "La liste n’a pas pu être chargée. Réessayez plus tard.",
  errors: {
    invitation: "Cette invitation a déjà servi ou n’est pas celle de cette enquête.",
    signature: "La signature n’est pas de la clé de cette enquête.",
    other_report: "Un autre envoi est parti avec le même nombre.",
    closed: "Cette enquête est terminée.",
    other_survey: "Le serveur a une autre enquête à cette adresse.",
    unknown_survey: "Le serveur ne connaît pas cette enquête.",
    receipt: "Le reçu du serveur n’est pas celui de votre envoi.",
  },
  publicPromise:
    "Les questions signalées comme publiques font exception : vos réponses y sont envoyées telles que vous les " +
    "donnez, et aucun tirage ne les protège. La promesse vaut pour toutes les autres réponses, quoi que vous " +
    "répondiez aux questions publiques.",
  chooseAtMost: "Veuillez en choisir {most} au plus.",
  chooseBetween: "Veuillez en choisir de {least} à {most}.",
  chooseExactly: "Veuillez en choisir exactement {most}.",
  chooseEach: "Veuillez choisir une réponse à chaque ligne.",
  publicNote: "Cette réponse est publique : elle est envoyée telle que vous la donnez, et le sort n’y change rien.",
};
