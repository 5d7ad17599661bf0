// Las palabras de la propia página, en español.
export const words = {
  language: "Idioma",
  asks: "Pregunta: {asker}.",
  contact: "¿Preguntas? {contact}",
  about: "Preguntas: {count}. Se aceptan respuestas hasta el {until}.",
  promise: {
    deniable: [
      "Su respuesta pasa antes por monedas",
      "Antes de enviar nada, su propio dispositivo lanza monedas que a veces cambian su respuesta. Lo que usted " +
      "respondió de verdad nunca sale de este dispositivo. Lo que se envía puede ser su respuesta o puede ser azar, " +
      "y nadie puede saber cuál de las dos cosas.",
    ],
    weak: [
      "La protección es débil en esta encuesta",
      "Antes de enviar nada, su propio dispositivo lanza monedas que a veces cambian sus respuestas. En esta " +
      "encuesta, lo que se envía dice aun así mucho de usted, por una respuesta o por todas juntas. Mire los " +
      "números antes de empezar.",
    ],
    veryWeak: [
      "En esta encuesta sus respuestas apenas están protegidas",
      "Antes de enviar nada, su propio dispositivo lanza monedas, pero en esta encuesta eso apenas le protege: " +
      "quien lea todo lo que envía puede llegar a estar casi seguro de una de sus respuestas, o de todas juntas. " +
      "Responda solo lo que otros puedan saber.",
    ],
  },
  consentTitle: "Antes de empezar",
  agree: "Estoy de acuerdo",
  understandingTitle: "Suponga que el informe de una persona dice «{answer}». ¿Qué dice eso de esa persona?",
  understandingWrong: "Que su respuesta fue «{answer}».",
  understandingRight: "Nada seguro: el azar también lo envía por personas con otra respuesta.",
  understood: "Sí.",
  misunderstood: "No: nada seguro.",
  share: "{count} de cada 100",
  rareShare: "una de cada {people}",
  noShare: "ninguna de las",
  facts: {
    yes_no:
      "«{yes}» también lo envían {first} personas para las que no es verdad, y «{no}» {second} personas para las " +
      "que sí lo es.",
    answers: "Cada respuesta también la envían al menos {share} personas con cualquier otra respuesta.",
    set:
      "Se envían varias respuestas a la vez. Cada respuesta está también entre las que envían al menos {share} " +
      "personas con cualquier otra respuesta.",
    items:
      "Cada opción también la envían al menos {first} personas que no la eligieron, y la omiten al menos {second} " +
      "personas que la eligieron.",
    symbols:
      "Lo que se envía no es una respuesta, sino un signo. Cada signo lo envían al menos {share} personas, " +
      "respondan lo que respondan.",
  },
  ifPicked: "Si su dispositivo escoge esta pregunta:",
  amongPicked: "Entre las personas cuyo dispositivo escoge esta pregunta:",
  sharedCoins: "Otras preguntas comparten sus monedas; esto vale responda lo que responda a ellas.",
  alsoYes: "También lo envían {share} personas para las que no es verdad.",
  alsoNo: "También lo envían {share} personas para las que es verdad.",
  also: {
    answers: "También lo envían al menos {share} personas con cualquier otra respuesta.",
    set: "Cada una de estas también la envían al menos {share} personas con cualquier otra respuesta.",
    symbols: "También lo envían al menos {share} personas, respondan lo que respondan.",
  },
  alsoChosen: "Cada una de estas también la envían al menos {share} personas que no la eligieron.",
  alsoLeft: "Cada una de las que faltan también la omiten al menos {share} personas que la eligieron.",
  never: {
    two:
      "«{sent}» también lo envían al menos {share} personas con la otra respuesta, pero «{only}» solo lo envían " +
      "quienes respondieron así.",
    some: "El azar no envía todo por todos: lo que se envía puede descartar algunas respuestas.",
    only: "Solo lo envían quienes respondieron así.",
    rulesOut: "No se envía por todos: descarta algunas respuestas.",
    chosen: "Al menos una de estas solo la envían personas que la eligieron.",
    left: "Al menos una de las que faltan solo la omiten personas que no la eligieron.",
  },
  dots: "De 100 personas con otra respuesta, el número de las que envían «{answer}» es {count}.",
  dotsSet: "De 100 personas con otra respuesta, el número de las que tienen «{answer}» entre lo enviado es {count}.",
  learn: {
    team: "El equipo de la encuesta",
    teamSees: {
      deniable: "ve lo que se envía, después de las monedas, y nunca sus respuestas",
      weak: "ve lo que se envía, después de las monedas, que dice mucho de sus respuestas",
      veryWeak: "ve lo que se envía, y puede llegar a estar casi seguro de sus respuestas",
    },
    others: "Quien más consiga los datos",
    othersSee: "ve lo mismo, y nada más",
    suspicious: "Alguien que sospecha de usted",
    odds:
      "llega a estar como mucho {each} veces más seguro de lo que usted respondió por lo que se envía sobre una " +
      "pregunta, y como mucho {all} veces por todo el conjunto",
    noOdds: "puede llegar a la certeza: algunos informes descartan una respuesta",
    network: "Quien gestiona el servidor o la red",
    device: "Este dispositivo",
    deviceKeeps: "guarda su informe hasta que haya llegado, y después solo que la encuesta fue respondida",
    deviceForgets: "no guarda nada",
  },
  checked:
    "Su navegador acaba de calcular él mismo estos números, y ha comprobado que las preguntas son las de su " +
    "enlace.",
  sampled:
    "Su dispositivo elige al azar {picked} de sus {of} respuestas, lanza las monedas para estas y no envía nada " +
    "sobre las demás.",
  sampledOne:
    "Su dispositivo elige al azar una de sus {of} respuestas, lanza las monedas para ella y no envía nada sobre " +
    "las demás.",
  sampledSome:
    "De sus respuestas a {of} de las preguntas, su dispositivo elige {picked} al azar, lanza las monedas para lo " +
    "que ha elegido y no envía nada sobre el resto de ellas.",
  later:
    "ve que usted participa. Su informe se envía solo en un momento al azar dentro de {time} después de que " +
    "termine, para que la hora diga poco de quién es.",
  atOnce:
    "ve que usted participa. Su informe se envía en cuanto termina, así que las horas pueden delatar cuál es el " +
    "suyo; los números de arriba valen incluso entonces.",
  together:
    "podría anotar qué informe es el suyo: en esta encuesta se envía junto con su invitación. Los números de " +
    "arriba valen incluso entonces.",
  forgetful: "Este navegador no guarda nada de esta página: déjela abierta hasta que su informe haya llegado.",
  forgetfulVote: "Su invitación se gasta al empezar: una pestaña perdida es un voto perdido.",
  insecureTitle: "No por esta conexión",
  insecure:
    "Esta conexión no está cifrada: alguien en el camino podría leer o cambiar esta página, y los navegadores le " +
    "niegan la criptografía que necesita. No se preguntó nada. Pida a quien le envió el enlace uno que empiece " +
    "por https.",
  demoTitle: "Pruebe antes las monedas",
  demoIntro: "Finja una respuesta y vea qué enviarían cien como usted. Nada de esto se guarda ni se envía.",
  demoPretend: "Suponga que su respuesta es",
  demoAgain: "Lanzar otra vez",
  demoMany: "De 100 como usted que responden todos «{pretended}», tantos envían:",
  demoSets: "De 100 como usted que responden todos «{pretended}», tantos envían un conjunto que contiene:",
  demoSame: "lo fingido",
  demoOther: "otra cosa, por azar",
  begin: "Empezar",
  momentTitle: "Un momento",
  checking: "Se está comprobando su invitación.",
  admitting:
    "Su dispositivo muestra su invitación y el servidor firma un número secreto sin verlo. Su informe se enviará " +
    "con ese número y sin la invitación.",
  step: "Pantalla {step} de {most}",
  several: "Elija todo lo que corresponda, o nada.",
  unrelated:
    "En {share} personas el dispositivo no usa la respuesta a esta pregunta. Saca una al azar, según las " +
    "frecuencias publicadas de las respuestas a otra pregunta: {unrelated} No hace esa pregunta a nadie, y no " +
    "sabe nada de usted.",
  choose: "Elija una respuesta, por favor.",
  unusedTitle: "Esta pantalla no se usa",
  unused:
    "Por una respuesta anterior, la pregunta de esta pantalla no se hace. Todos pasan por el mismo número de " +
    "pantallas, para que el tiempo empleado diga menos sobre las respuestas.",
  back: "Atrás",
  next: "Siguiente",
  change: "Cambiar",
  onDevice: "No se ha enviado nada. Lo que responda aquí se queda en este dispositivo.",
  reviewTitle: "Listo para enviar",
  review:
    "Revise sus respuestas. Las monedas caen una sola vez, y después nada se puede cambiar: lo que dejen será " +
    "enviado.",
  reviewSampled:
    "Al enviar, su dispositivo también elige al azar qué respuestas utiliza. No se envía nada sobre las que deja " +
    "fuera.",
  send: "Lanzar las monedas",
  fallenTitle: "Las monedas han caído",
  fallen: "Esto es lo que se enviará. Ha ocurrido solo en su dispositivo.",
  fallenAsk: "Mostrar qué hicieron las monedas",
  fallenKept: "Esto es lo que usted respondió.",
  fallenChanged: "Cambiado por las monedas. Usted respondió: {given}.",
  fallenAmong: "Su respuesta está entre ellas.",
  fallenMissing: "Su respuesta no está entre ellas. Usted respondió: {given}.",
  fallenGone: "Esto se muestra una vez. Desaparece cuando sigue adelante.",
  fallenTime: "Se envía solo a las {time}, o cuando vuelva más tarde a esta página.",
  sendThese: "Enviar esto",
  sendingTitle: "Enviando",
  sending: "Enviando su informe.",
  waiting: "Aún no hay conexión. Nuevo intento en {time}.",
  comeBack: "También puede volver más tarde con este enlace.",
  sealed:
    "Las monedas ya cayeron y sus respuestas verdaderas ya se olvidaron. Solo se guarda el informe disfrazado " +
    "hasta que llegue.",
  waitTitle: "Sellado, a la espera de enviarse",
  wait: "Se envía solo en un momento al azar, para que la hora diga poco sobre de quién es el informe.",
  leaves: "Se envía a esta hora: {time}, {left}.",
  stay: "Deje esta página abierta hasta entonces, por favor.",
  stayOrReturn: "Si la cierra, el informe se envía cuando vuelva a abrir su enlace en este navegador.",
  carryTitle: "Enviarlo desde otro dispositivo o red",
  carry:
    "El enlace y el archivo contienen el informe sellado. Abrir uno de ellos en cualquier lugar envía este mismo " +
    "informe, pero no antes de su momento. No los comparta: muestran el informe disfrazado, y quien los tenga " +
    "podría enviar otro en su lugar.",
  carriedLink: "Enlace con el informe sellado",
  copy: "Copiar el enlace",
  copied: "Copiado.",
  save: "Guardar como archivo",
  openToSend: "Enviar el informe sellado",
  hold: "También se enviará desde aquí, si no lo detiene.",
  holdHere: "No enviarlo desde aquí",
  heldTitle: "No se envía desde aquí",
  held:
    "Este dispositivo guarda el informe sellado y no lo envía por sí solo. Solo cuenta cuando se ha enviado: con " +
    "el enlace, con el archivo o desde aquí.",
  sendHere: "Enviarlo desde aquí",
  thanksTitle: "Gracias",
  thanks: "Su informe llegó y se guardó.",
  sentTitle: "Esto es todo lo que se envió",
  sent:
    "No prueba nada sobre usted: debajo de cada línea pone con qué frecuencia la envían personas para las que no " +
    "es verdad.",
  sentWeak:
    "Las monedas pueden haberlo cambiado. Debajo de cada línea pone con qué frecuencia la envían personas para " +
    "las que no es verdad.",
  sentPublic: "Las respuestas a las preguntas públicas son la excepción: se enviaron tal como usted las dio.",
  sentBytes: "Tal como lo guardó el servidor:",
  sentWhole: "Cada byte que se envió",
  sentCheck: "Cuando abrió su enlace, para ver si la invitación se puede usar:",
  sentAdmission:
    "Cuando empezó, para que se firmara un número secreto que el servidor no puede ver. Su dispositivo ha borrado " +
    "el número cegado, para que nadie averigüe por él qué informe es el suyo:",
  sentReport: "Su informe, en una petición propia y sin la invitación:",
  sentOnly: "Su informe:",
  erased: "512 cifras, borradas",
  nothing: "nada de esto",
  oneOf: "uno de estos: {said}",
  notAsked: "no preguntado",
  leftOut: "no se envía nada sobre esta pregunta",
  notPicked: "no se envió nada sobre esta pregunta",
  receipt: "Recibo:",
  kept: "Este dispositivo solo recuerda que la encuesta fue respondida.",
  keptInvitation: "Este dispositivo solo recuerda que la encuesta fue respondida con esta invitación.",
  answeredTitle: "Ya respondida",
  answered:
    "Esta encuesta ya se respondió en este dispositivo. Un segundo informe, con otras monedas, debilitaría su " +
    "protección.",
  otherInvitation: "Otra persona con invitación puede responder en este dispositivo con el enlace completo de la suya.",
  closedTitle: "Esta encuesta ha terminado",
  closed: "Ya no se aceptan respuestas.",
  links: {
    missing: [
      "Hace falta una invitación",
      "El enlace no tiene una invitación al final. Use el enlace completo que recibió, por favor.",
    ],
    truncated: [
      "El enlace no está completo",
      "Le falta el final. Use el enlace completo que recibió, por favor.",
    ],
    mistyped: [
      "El enlace tiene un error",
      "Su final no es una invitación: es demasiado largo o tiene caracteres que ninguna invitación tiene. Compárelo " +
      "con el enlace que recibió, por favor.",
    ],
    spent: [
      "Esta invitación ya se usó",
      "Si empezó con ella en otro dispositivo o en otro navegador, continúe allí, por favor. Si no, quizá la usó " +
      "otra persona.",
    ],
    unknown_invitation: [
      "Esta invitación no se conoce",
      "No es de esta encuesta, fue retirada o tiene un error de escritura.",
    ],
    invitation: [
      "Esta invitación no sirve",
      "Ya se usó o no es de esta encuesta.",
    ],
    no_key: [
      "El servidor no puede admitirle",
      "No tiene la clave de esta encuesta. Cuando se arregle, vuelva con este enlace en este navegador, por favor.",
    ],
  },
  askWhom: "A quién preguntar: {whom}",
  refusedTitle: "El servidor no aceptó el informe",
  refused: "No se preguntó de nuevo: las monedas caen una sola vez. Puede volver a enviar el mismo informe.",
  tryAgain: "Intentar de nuevo",
  stopTitle: "No responda aquí",
  stop: "Su navegador comprobó esta encuesta: no es lo que promete su enlace. No se preguntó ni se envió nada.",
  falseAdmission:
    "La firma del servidor no es de la clave de esta encuesta: un informe enviado con ella sería rechazado o " +
    "reconocido. No se preguntó nada.",
  noHash: "El enlace no está completo: la parte detrás de # falta o es demasiado corta.",
  offlineTitle: "Sin conexión",
  offline: "No se pudo cargar la encuesta. No se ha perdido nada.",
  audit: "Cómo funciona esta encuesta y cómo comprobarlo",
  rehearsal: "Esto es un ensayo: ninguna respuesta cuenta y todas se borrarán.",
  askSender:
    "Pregunte a quien le envió el enlace, pero no a través de esta página: también puede haberse cambiado lo que " +
    "dice sobre a quién preguntar.",
  receiptCheck: "Comprobar que está guardado",
  receiptChecking: "Buscando su recibo.",
  receiptStored:
    "Su informe está guardado: su recibo figura en la lista que se acaba de descargar (recibos en la lista: " +
    "{count}). Su propio dispositivo buscó en la lista; el servidor no supo cuál es su recibo.",
  receiptMissing:
    "Su recibo no está en la lista del servidor. Guarde el recibo, vuelva a intentarlo más tarde y, si sigue sin " +
    "aparecer, pregunte.",
  receiptOffline: "No se pudo cargar la lista. Inténtelo más tarde.",
  errors: {
    invitation: "Esta invitación ya se usó o no es de esta encuesta.",
    signature: "La firma no es de la clave de esta encuesta.",
    other_report: "Se envió otro informe con el mismo número.",
    closed: "Esta encuesta ha terminado.",
    other_survey: "El servidor tiene otra encuesta en esta dirección.",
    unknown_survey: "El servidor no conoce esta encuesta.",
    receipt: "El recibo del servidor no es el de su informe.",
  },
  publicPromise:
    "La excepción son las preguntas marcadas como públicas: sus respuestas se envían tal como usted las da, y " +
    "ninguna moneda las protege. La promesa vale para todas las demás respuestas, sea cual sea su respuesta a las " +
    "preguntas públicas.",
  chooseAtMost: "Elija como máximo {most}, por favor.",
  chooseBetween: "Elija de {least} a {most}, por favor.",
  chooseExactly: "Elija exactamente {most}, por favor.",
  chooseEach: "Elija una respuesta en cada fila, por favor.",
  publicNote: "Esta respuesta es pública: se envía tal como usted la da, y ninguna moneda la cambia.",
};
