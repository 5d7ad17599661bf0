// Die eigenen Worte der Seite, auf Deutsch.
export const words = {
  language: "Sprache",
  asks: "Es fragt: {asker}.",
  contact: "Fragen? {contact}",
  about: "Fragen: {count}. Antworten werden bis {until} angenommen.",
  promise: {
    deniable: [
      "Ihre Antwort geht erst durch Münzen",
      "Bevor etwas gesendet wird, wirft Ihr eigenes Gerät Münzen, und manchmal ändern sie Ihre Antwort. Was Sie " +
      "wirklich geantwortet haben, verlässt dieses Gerät nie. Was gesendet wird, kann also Ihre Antwort sein oder " +
      "Zufall, und niemand kann erkennen, was von beiden.",
    ],
    weak: [
      "Der Schutz ist in dieser Umfrage schwach",
      "Bevor etwas gesendet wird, wirft Ihr eigenes Gerät Münzen, die Ihre Antworten manchmal ändern. In dieser " +
      "Umfrage sagt das, was gesendet wird, trotzdem viel über Sie, durch eine Antwort oder durch alle zusammen. " +
      "Sehen Sie sich die Zahlen an, bevor Sie beginnen.",
    ],
    veryWeak: [
      "Ihre Antworten sind in dieser Umfrage kaum geschützt",
      "Bevor etwas gesendet wird, wirft Ihr eigenes Gerät Münzen, aber in dieser Umfrage schützt Sie das kaum: Wer " +
      "alles liest, was Sie senden, kann sich einer Ihrer Antworten fast sicher werden, oder aller zusammen. " +
      "Antworten Sie nur, was andere wissen dürfen.",
    ],
  },
  consentTitle: "Bevor Sie beginnen",
  agree: "Ich bin einverstanden",
  understandingTitle: "Angenommen, im Bericht eines Menschen steht „{answer}“. Was verrät das über diesen Menschen?",
  understandingWrong: "Dass seine Antwort „{answer}“ war.",
  understandingRight: "Nichts Sicheres: Der Zufall sendet es auch für Menschen mit einer anderen Antwort.",
  understood: "Ja.",
  misunderstood: "Nein: nichts Sicheres.",
  share: "{count} von 100",
  rareShare: "einem von {people}",
  noShare: "keinem der",
  facts: {
    yes_no:
      "„{yes}“ wird auch von {first} Menschen gesendet, auf die es nicht zutrifft, und „{no}“ von {second} " +
      "Menschen, auf die es zutrifft.",
    answers: "Jede Antwort wird auch von mindestens {share} Menschen mit irgendeiner anderen Antwort gesendet.",
    set:
      "Es werden mehrere Antworten zugleich gesendet. Jede Antwort ist auch bei mindestens {share} Menschen mit " +
      "irgendeiner anderen Antwort darunter.",
    items:
      "Jede Auswahl wird auch von mindestens {first} Menschen gesendet, die sie nicht getroffen haben, und von " +
      "mindestens {second} Menschen weggelassen, die sie getroffen haben.",
    symbols:
      "Gesendet wird keine Antwort, sondern ein Zeichen. Jedes Zeichen wird von mindestens {share} Menschen " +
      "gesendet, was auch immer sie antworten.",
  },
  ifPicked: "Falls Ihr Gerät diese Frage auswählt:",
  amongPicked: "Unter den Menschen, deren Gerät diese Frage auswählt:",
  sharedCoins: "Andere Fragen teilen sich mit ihr die Münzen; das gilt, was auch immer Sie dort antworten.",
  alsoYes: "Wird auch von {share} Menschen gesendet, auf die es nicht zutrifft.",
  alsoNo: "Wird auch von {share} Menschen gesendet, auf die es zutrifft.",
  also: {
    answers: "Wird auch von mindestens {share} Menschen mit irgendeiner anderen Antwort gesendet.",
    set: "Jede davon wird auch von mindestens {share} Menschen mit irgendeiner anderen Antwort gesendet.",
    symbols: "Wird auch von mindestens {share} Menschen gesendet, was auch immer sie antworten.",
  },
  alsoChosen: "Jedes davon wird auch von mindestens {share} Menschen gesendet, die es nicht gewählt haben.",
  alsoLeft: "Jedes, das fehlt, fehlt auch bei mindestens {share} Menschen, die es gewählt haben.",
  never: {
    two:
      "„{sent}“ wird auch von mindestens {share} Menschen mit der anderen Antwort gesendet, „{only}“ aber nur von " +
      "Menschen, die so geantwortet haben.",
    some: "Der Zufall sendet nicht alles für alle: Was gesendet wird, kann manche Antworten ausschließen.",
    only: "Wird nur von Menschen gesendet, die so geantwortet haben.",
    rulesOut: "Wird nicht für alle gesendet: Es schließt manche Antworten aus.",
    chosen: "Mindestens eines davon wird nur von Menschen gesendet, die es gewählt haben.",
    left: "Mindestens eines, das fehlt, fehlt nur bei Menschen, die es nicht gewählt haben.",
  },
  dots: "So viele von 100 Menschen mit einer anderen Antwort senden „{answer}“: {count}.",
  dotsSet: "Bei so vielen von 100 Menschen mit einer anderen Antwort ist „{answer}“ unter dem Gesendeten: {count}.",
  learn: {
    team: "Das Umfrageteam",
    teamSees: {
      deniable: "sieht, was nach den Münzen gesendet wird, und nie Ihre Antworten",
      weak: "sieht, was nach den Münzen gesendet wird, und das sagt viel über Ihre Antworten",
      veryWeak: "sieht, was gesendet wird, und kann sich Ihrer Antworten fast sicher werden",
    },
    others: "Wer sonst an die Daten kommt",
    othersSee: "sieht dasselbe und nicht mehr",
    suspicious: "Jemand, der Sie verdächtigt",
    odds:
      "wird sich Ihrer Antworten durch das, was zu einer Frage gesendet wird, höchstens {each}-mal so sicher, durch " +
      "alles zusammen höchstens {all}-mal",
    noOdds: "kann Gewissheit erlangen: Manche Berichte schließen eine Antwort aus",
    network: "Wer den Server oder das Netz betreibt",
    device: "Dieses Gerät",
    deviceKeeps: "behält Ihren Bericht, bis er angekommen ist, und danach nur, dass die Umfrage beantwortet wurde",
    deviceForgets: "behält nichts",
  },
  checked: "Ihr Browser hat diese Zahlen gerade selbst berechnet und geprüft, dass es die Fragen Ihres Links sind.",
  sampled:
    "Ihr Gerät wählt zufällig {picked} Ihrer {of} Antworten aus, wirft für diese die Münzen und sendet über die " +
    "anderen nichts.",
  sampledOne:
    "Ihr Gerät wählt zufällig eine Ihrer {of} Antworten aus, wirft für sie die Münzen und sendet über die anderen " +
    "nichts.",
  sampledSome:
    "Von Ihren Antworten auf {of} der Fragen wählt Ihr Gerät zufällig {picked} aus, wirft die Münzen für das, was " +
    "es gewählt hat, und sendet nichts über die übrigen davon.",
  later:
    "sieht, dass Sie teilnehmen. Ihr Bericht wird von selbst zu einem zufälligen Zeitpunkt innerhalb von {time} " +
    "gesendet, nachdem Sie fertig sind, damit der Zeitpunkt wenig darüber verrät, wessen Bericht es ist.",
  atOnce:
    "sieht, dass Sie teilnehmen. Ihr Bericht wird gesendet, sobald Sie fertig sind, so dass die Zeiten verraten " +
    "können, welcher Ihrer ist; die Zahlen oben gelten auch dann.",
  together:
    "könnte festhalten, welcher Bericht Ihrer ist: In dieser Umfrage wird er zusammen mit Ihrer Einladung " +
    "gesendet. Die Zahlen oben gelten auch dann.",
  forgetful: "Dieser Browser speichert nichts für diese Seite: Lassen Sie sie offen, bis Ihr Bericht angekommen ist.",
  forgetfulVote: "Ihre Einladung ist verbraucht, sobald Sie beginnen: Ein verlorener Tab ist eine verlorene Stimme.",
  insecureTitle: "Nicht über diese Verbindung",
  insecure:
    "Diese Verbindung ist nicht verschlüsselt: Jemand könnte unterwegs mitlesen oder diese Seite verändern, und " +
    "Browser verweigern ihr die nötige Kryptographie. Nichts wurde gefragt. Bitten Sie den Absender um einen " +
    "Link, der mit https beginnt.",
  demoTitle: "Die Münzen zuerst ausprobieren",
  demoIntro:
    "Tun Sie so, als gäben Sie eine Antwort, und sehen Sie, was hundert von Ihnen senden würden. Nichts davon " +
    "wird gespeichert oder gesendet.",
  demoPretend: "Angenommen, Ihre Antwort ist",
  demoAgain: "Noch einmal werfen",
  demoMany: "Von 100 von Ihnen, die alle „{pretended}“ antworten, senden so viele:",
  demoSets: "Von 100 von Ihnen, die alle „{pretended}“ antworten, senden so viele eine Menge, in der das vorkommt:",
  demoSame: "wie angenommen",
  demoOther: "etwas anderes, durch Zufall",
  begin: "Beginnen",
  momentTitle: "Einen Augenblick",
  checking: "Ihre Einladung wird geprüft.",
  admitting:
    "Ihr Gerät zeigt Ihre Einladung vor, und der Server unterschreibt eine geheime Zahl, ohne sie zu sehen. Ihr " +
    "Bericht wird mit dieser Zahl gesendet, ohne die Einladung.",
  step: "Seite {step} von {most}",
  several: "Wählen Sie alles, was zutrifft, oder nichts.",
  unrelated:
    "Bei {share} Menschen verwendet das Gerät die Antwort auf diese Frage nicht. Es zieht durch Zufall eine " +
    "Antwort, nach den veröffentlichten Häufigkeiten der Antworten auf eine andere Frage: {unrelated} Diese Frage " +
    "stellt es niemandem, und über Sie weiß es nichts.",
  choose: "Bitte wählen Sie eine Antwort.",
  unusedTitle: "Diese Seite wird nicht gebraucht",
  unused:
    "Wegen einer früheren Antwort wird die Frage dieser Seite nicht gestellt. Alle sehen gleich viele Seiten, " +
    "damit die Dauer weniger über die Antworten verrät.",
  back: "Zurück",
  next: "Weiter",
  change: "Ändern",
  onDevice: "Nichts wurde gesendet. Was Sie hier antworten, bleibt auf diesem Gerät.",
  reviewTitle: "Bereit zum Senden",
  review:
    "Prüfen Sie Ihre Antworten. Die Münzen fallen ein einziges Mal, und danach lässt sich nichts mehr ändern: Was " +
    "sie übrig lassen, wird gesendet.",
  reviewSampled:
    "Beim Senden wählt Ihr Gerät auch zufällig aus, welche Antworten es verwendet. Über die, die es auslässt, " +
    "wird nichts gesendet.",
  send: "Münzen werfen",
  fallenTitle: "Die Münzen sind gefallen",
  fallen: "Das wird gesendet. Es geschah nur auf Ihrem Gerät.",
  fallenAsk: "Zeigen, was die Münzen getan haben",
  fallenKept: "Das haben Sie geantwortet.",
  fallenChanged: "Von den Münzen geändert. Sie haben geantwortet: {given}.",
  fallenAmong: "Ihre Antwort ist darunter.",
  fallenMissing: "Ihre Antwort ist nicht darunter. Sie haben geantwortet: {given}.",
  fallenGone: "Das wird einmal gezeigt. Es ist weg, wenn Sie weitergehen.",
  fallenTime: "Es wird um {time} von selbst gesendet, oder wenn Sie später auf diese Seite zurückkommen.",
  sendThese: "Das senden",
  sendingTitle: "Wird gesendet",
  sending: "Ihr Bericht wird gesendet.",
  waiting: "Noch keine Verbindung. Neuer Versuch in {time}.",
  comeBack: "Sie können mit diesem Link auch später wiederkommen.",
  sealed:
    "Die Münzen sind gefallen, und Ihre wirklichen Antworten sind schon vergessen. Nur der verschleierte Bericht " +
    "bleibt, bis er angekommen ist.",
  waitTitle: "Versiegelt, wartet auf das Senden",
  wait:
    "Er wird zu einem zufälligen Zeitpunkt von selbst gesendet, damit der Zeitpunkt wenig darüber verrät, wessen " +
    "Bericht es ist.",
  leaves: "Gesendet wird um {time}, {left}.",
  stay: "Bitte lassen Sie diese Seite bis dahin offen.",
  stayOrReturn:
    "Wenn Sie sie schließen, wird der Bericht gesendet, sobald Sie Ihren Link in diesem Browser wieder öffnen.",
  carryTitle: "Von einem anderen Gerät oder Netz senden",
  carry:
    "Link und Datei enthalten den versiegelten Bericht. Wer eines davon irgendwo öffnet, sendet genau diesen " +
    "Bericht, aber nicht vor seinem Zeitpunkt. Behalten Sie beides für sich: Es zeigt den verschleierten Bericht, " +
    "und wer es hat, könnte einen anderen an seiner Stelle senden.",
  carriedLink: "Link mit dem versiegelten Bericht",
  copy: "Link kopieren",
  copied: "Kopiert.",
  save: "Als Datei speichern",
  openToSend: "Den versiegelten Bericht senden",
  hold: "Er wird auch von hier gesendet, wenn Sie das nicht anhalten.",
  holdHere: "Nicht von hier senden",
  heldTitle: "Wird nicht von hier gesendet",
  held:
    "Dieses Gerät behält den versiegelten Bericht und sendet ihn nicht von selbst. Er zählt erst, wenn er " +
    "gesendet ist: mit dem Link, mit der Datei oder von hier.",
  sendHere: "Von hier senden",
  thanksTitle: "Danke",
  thanks: "Ihr Bericht ist angekommen und gespeichert.",
  sentTitle: "Das ist alles, was gesendet wurde",
  sent:
    "Es beweist nichts über Sie: Unter jeder Zeile steht, wie oft sie von Menschen gesendet wird, auf die sie " +
    "nicht zutrifft.",
  sentWeak:
    "Die Münzen können es geändert haben. Unter jeder Zeile steht, wie oft sie von Menschen gesendet wird, auf " +
    "die sie nicht zutrifft.",
  sentPublic: "Antworten auf öffentliche Fragen sind die Ausnahme: Sie wurden so gesendet, wie Sie sie gegeben haben.",
  sentBytes: "So hat es der Server gespeichert:",
  sentWhole: "Jedes Byte, das gesendet wurde",
  sentCheck: "Als Sie Ihren Link geöffnet haben, um zu sehen, ob die Einladung verwendet werden kann:",
  sentAdmission:
    "Als Sie begonnen haben, damit eine geheime Zahl unterschrieben wird, die der Server nicht sehen kann. Ihr " +
    "Gerät hat die verhüllte Zahl gelöscht, damit niemand durch sie herausfindet, welcher Bericht Ihrer ist:",
  sentReport: "Ihr Bericht, in einer eigenen Anfrage und ohne die Einladung:",
  sentOnly: "Ihr Bericht:",
  erased: "512 Ziffern, gelöscht",
  nothing: "nichts davon",
  oneOf: "eines davon: {said}",
  notAsked: "nicht gefragt",
  leftOut: "über diese Frage wird nichts gesendet",
  notPicked: "über diese Frage wurde nichts gesendet",
  receipt: "Quittung:",
  kept: "Dieses Gerät merkt sich nur, dass die Umfrage beantwortet wurde.",
  keptInvitation: "Dieses Gerät merkt sich nur, dass die Umfrage mit dieser Einladung beantwortet wurde.",
  answeredTitle: "Schon beantwortet",
  answered:
    "Diese Umfrage wurde auf diesem Gerät beantwortet. Ein zweiter Bericht mit anderen Münzen würde Ihren Schutz " +
    "schwächen.",
  otherInvitation: "Wer sonst eine Einladung hat, kann auf diesem Gerät mit deren ganzem Link antworten.",
  closedTitle: "Diese Umfrage ist beendet",
  closed: "Antworten werden nicht mehr angenommen.",
  links: {
    missing: [
      "Eine Einladung ist nötig",
      "Der Link hat am Ende keine Einladung. Bitte verwenden Sie den ganzen Link, den Sie bekommen haben.",
    ],
    truncated: [
      "Der Link ist nicht vollständig",
      "Sein Ende fehlt. Bitte verwenden Sie den ganzen Link, den Sie bekommen haben.",
    ],
    mistyped: [
      "Der Link hat einen Fehler",
      "Sein Ende ist keine Einladung: Es ist zu lang oder hat Zeichen, die keine Einladung hat. Bitte vergleichen " +
      "Sie ihn mit dem Link, den Sie bekommen haben.",
    ],
    spent: [
      "Diese Einladung wurde schon verwendet",
      "Wenn Sie damit auf einem anderen Gerät oder in einem anderen Browser begonnen haben, machen Sie bitte dort " +
      "weiter. Wenn nicht, hat sie vielleicht jemand anderes verwendet.",
    ],
    unknown_invitation: [
      "Diese Einladung ist nicht bekannt",
      "Sie gehört nicht zu dieser Umfrage, wurde zurückgezogen oder enthält einen Tippfehler.",
    ],
    invitation: [
      "Diese Einladung gilt nicht",
      "Sie wurde schon verwendet oder gehört nicht zu dieser Umfrage.",
    ],
    no_key: [
      "Der Server kann Sie nicht zulassen",
      "Ihm fehlt der Schlüssel dieser Umfrage. Wenn das behoben ist, kommen Sie bitte mit diesem Link in diesem " +
      "Browser wieder.",
    ],
  },
  askWhom: "Wen Sie fragen können: {whom}",
  refusedTitle: "Der Server hat den Bericht nicht angenommen",
  refused:
    "Es wurde nicht noch einmal gefragt: Die Münzen fallen nur einmal. Sie können denselben Bericht noch einmal " +
    "senden.",
  tryAgain: "Noch einmal versuchen",
  stopTitle: "Bitte antworten Sie hier nicht",
  stop:
    "Ihr Browser hat diese Umfrage geprüft: Sie ist nicht, was Ihr Link verspricht. Nichts wurde gefragt und " +
    "nichts gesendet.",
  falseAdmission:
    "Die Unterschrift des Servers stammt nicht vom Schlüssel dieser Umfrage: Ein Bericht mit ihr würde abgelehnt " +
    "oder wiedererkannt. Es wurde noch nichts gefragt.",
  noHash: "Der Link ist nicht vollständig: Der Teil hinter # fehlt oder ist zu kurz.",
  offlineTitle: "Keine Verbindung",
  offline: "Die Umfrage konnte nicht geladen werden. Nichts ist verloren.",
  audit: "Wie diese Umfrage funktioniert und wie man sie prüft",
  rehearsal: "Dies ist eine Probe: Keine Antwort zählt, und alle werden verworfen.",
  askSender:
    "Fragen Sie, wer Ihnen den Link geschickt hat, aber nicht über diese Seite: Auch was hier über " +
    "Ansprechpartner steht, könnte verändert worden sein.",
  receiptCheck: "Prüfen, ob er gespeichert ist",
  receiptChecking: "Ihre Quittung wird gesucht.",
  receiptStored:
    "Ihr Bericht ist gespeichert: Ihre Quittung steht in der Liste, die gerade geladen wurde (Quittungen darin: " +
    "{count}). Ihr Gerät hat selbst in der Liste gesucht; der Server hat nicht erfahren, welche Quittung Ihre " +
    "ist.",
  receiptMissing:
    "Ihre Quittung steht nicht in der Liste des Servers. Bewahren Sie die Quittung auf, versuchen Sie es später " +
    "noch einmal und fragen Sie dann nach.",
  receiptOffline: "Die Liste konnte nicht geladen werden. Versuchen Sie es später noch einmal.",
  errors: {
    invitation: "Diese Einladung wurde schon verwendet oder gehört nicht zu dieser Umfrage.",
    signature: "Die Unterschrift stammt nicht vom Schlüssel dieser Umfrage.",
    other_report: "Mit derselben Zahl wurde ein anderer Bericht gesendet.",
    closed: "Diese Umfrage ist beendet.",
    other_survey: "Der Server hat unter dieser Adresse eine andere Umfrage.",
    unknown_survey: "Der Server kennt diese Umfrage nicht.",
    receipt: "Die Quittung des Servers ist nicht die Ihres Berichts.",
  },
  publicPromise:
    "Ausgenommen sind Fragen, die als öffentlich gekennzeichnet sind: Ihre Antworten darauf werden so gesendet, " +
    "wie Sie sie geben, und keine Münze schützt sie. Das Versprechen gilt für alle anderen Antworten, was immer " +
    "Sie auf die öffentlichen Fragen antworten.",
  chooseAtMost: "Bitte wählen Sie höchstens {most} aus.",
  chooseBetween: "Bitte wählen Sie {least} bis {most} aus.",
  chooseExactly: "Bitte wählen Sie genau {most} aus.",
  chooseEach: "Bitte wählen Sie in jeder Zeile eine Antwort.",
  publicNote: "Diese Antwort ist öffentlich: Sie wird so gesendet, wie Sie sie geben, und keine Münze verändert sie.",
};
