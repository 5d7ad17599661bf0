// The page's own words, in English.
export const words = {
  language: "Language",
  asks: "{asker} asks.",
  contact: "Questions? {contact}",
  about: "Questions: {count}. Answers are taken until {until}.",
  promise: {
    deniable: [
      "Your answer goes through coins first",
      "Before anything is sent, your own device tosses coins, and sometimes they change your answer. What you " +
      "really answered never leaves this device. So whatever is sent may be your answer or may be chance, and " +
      "nobody can tell which.",
    ],
    weak: [
      "Protection is weak in this survey",
      "Before anything is sent, your own device tosses coins that sometimes change your answers. In this survey, " +
      "what is sent still says much about you, by one answer or by all of them together. Look at the numbers before " +
      "you begin.",
    ],
    veryWeak: [
      "Your answers are hardly protected in this survey",
      "Your own device tosses coins before anything is sent, but in this survey that hardly protects you: anyone who " +
      "reads all that you send can become nearly certain of an answer of yours, or of all of them together. Answer " +
      "only what others may know.",
    ],
  },
  consentTitle: "Before you begin",
  agree: "I agree",
  understandingTitle: "Suppose somebody’s report says “{answer}”. What does it tell about that person?",
  understandingWrong: "That their answer was “{answer}”.",
  understandingRight: "Nothing for certain: chance also sends it for people with another answer.",
  understood: "Yes.",
  misunderstood: "No: nothing for certain.",
  share: "{count} of 100",
  rareShare: "one in {people}",
  noShare: "none of the",
  facts: {
    yes_no:
      "“{yes}” is also sent by {first} people for whom it is not true, and “{no}” by {second} people for whom it " +
      "is.",
    answers: "Every answer is also sent by at least {share} people with any other answer.",
    set:
      "Several answers are sent at once. Every answer is also among those sent by at least {share} people with any " +
      "other answer.",
    items:
      "Every choice is also sent by at least {first} people who did not make it, and left out by at least {second} " +
      "people who did.",
    symbols:
      "What is sent is no answer, but a sign. Every sign is sent by at least {share} people, whatever they answer.",
  },
  ifPicked: "If your device picks this question:",
  amongPicked: "Among people whose device picks this question:",
  sharedCoins: "Other questions share its coins; this holds whatever you answer to them.",
  alsoYes: "Also sent by {share} people for whom it is not true.",
  alsoNo: "Also sent by {share} people for whom it is true.",
  also: {
    answers: "Also sent by at least {share} people with any other answer.",
    set: "Each of these is also sent by at least {share} people with any other answer.",
    symbols: "Also sent by at least {share} people, whatever they answer.",
  },
  alsoChosen: "Each of these is also sent by at least {share} people who did not choose it.",
  alsoLeft: "Each that is missing is also left out by at least {share} people who chose it.",
  never: {
    two:
      "“{sent}” is also sent by at least {share} people with the other answer, but “{only}” only by people who " +
      "gave that answer.",
    some: "Chance does not send everything for everybody: what is sent can rule some answers out.",
    only: "Sent only by people who gave this answer.",
    rulesOut: "Not sent for everybody: it rules some answers out.",
    chosen: "At least one of these is sent only by people who chose it.",
    left: "At least one that is missing is left out only by people who did not choose it.",
  },
  dots: "Of 100 people with another answer, so many send “{answer}”: {count}.",
  dotsSet: "Of 100 people with another answer, so many have “{answer}” among what they send: {count}.",
  learn: {
    team: "The survey team",
    teamSees: {
      deniable: "sees what is sent, after the coins, and never your answers",
      weak: "sees what is sent, after the coins, which says much about your answers",
      veryWeak: "sees what is sent, and can become nearly certain of answers of yours",
    },
    others: "Anyone else who gets the data",
    othersSee: "sees the same, and nothing more",
    suspicious: "Somebody who suspects you",
    odds:
      "becomes at most {each} times as sure of how you answered by what is sent about one question, and at most " +
      "{all} times by everything together",
    noOdds: "may become certain: some reports rule an answer out",
    network: "Those who run the server or the network",
    device: "This device",
    deviceKeeps: "keeps your report until it has arrived, and then only that the survey was answered",
    deviceForgets: "keeps nothing",
  },
  checked: "Your browser has just computed these numbers itself, and checked that the questions are those of your link.",
  sampled:
    "Your device picks {picked} of your {of} answers at random, tosses the coins for these, and sends nothing " +
    "about the others.",
  sampledOne:
    "Your device picks one of your {of} answers at random, tosses the coins for it, and sends nothing about the " +
    "others.",
  sampledSome:
    "Of your answers to {of} of the questions, your device picks {picked} at random, tosses the coins for what it " +
    "has picked, and sends nothing about the rest of them.",
  later:
    "sees that you take part. Your report is sent by itself at a random moment within {time} after you have " +
    "finished, so that the time says little about whose it is.",
  atOnce:
    "sees that you take part. Your report is sent as soon as you finish, so the times may tell which one is " +
    "yours; the numbers above hold even then.",
  together:
    "could note which report is yours: in this survey it is sent together with your invitation. The numbers above " +
    "hold even then.",
  forgetful: "This browser keeps nothing for this page: leave it open until your report has arrived.",
  forgetfulVote: "Your invitation is used up when you begin, so a lost tab is a lost vote.",
  insecureTitle: "Not over this connection",
  insecure:
    "This connection is not encrypted: somebody on the way could read along or change this page, and browsers " +
    "withhold the cryptography that it needs. Nothing was asked. Ask the people who sent you the link for one that " +
    "begins with https.",
  demoTitle: "Try the coins first",
  demoIntro: "Pretend an answer, and see what a hundred of you would send. Nothing of this is kept or sent.",
  demoPretend: "Pretend that your answer is",
  demoAgain: "Toss again",
  demoMany: "Of 100 of you who all answer “{pretended}”, so many send:",
  demoSets: "Of 100 of you who all answer “{pretended}”, so many send a set that holds:",
  demoSame: "as pretended",
  demoOther: "something else, by chance",
  begin: "Begin",
  momentTitle: "One moment",
  checking: "Your invitation is being checked.",
  admitting:
    "Your device shows your invitation, and the server signs a secret number without seeing it. Your report will " +
    "be sent with that number, and without the invitation.",
  step: "Screen {step} of {most}",
  several: "Choose all that apply, or none.",
  unrelated:
    "For {share} people the device does not use the answer to this question. It draws one by chance, from the " +
    "published frequencies of the answers to another question: {unrelated} It asks nobody that question, and " +
    "knows nothing about you.",
  choose: "Please choose an answer.",
  unusedTitle: "This screen is not used",
  unused:
    "Because of an earlier answer, the question of this screen is not asked. Everybody passes the same number of " +
    "screens, so that the time it takes says less about the answers.",
  back: "Back",
  next: "Next",
  change: "Change",
  onDevice: "Nothing has been sent. What you answer here stays on this device.",
  reviewTitle: "Ready to send",
  review:
    "Check your answers. The coins fall once, and nothing can be changed afterwards: what they leave will be " +
    "sent.",
  reviewSampled:
    "When you send, your device also picks at random which answers it uses. Nothing is sent about those that it " +
    "leaves out.",
  send: "Toss the coins",
  fallenTitle: "The coins have fallen",
  fallen: "This is what will be sent. It happened on your device only.",
  fallenAsk: "Show what the coins did",
  fallenKept: "This is what you answered.",
  fallenChanged: "Changed by the coins. You answered: {given}.",
  fallenAmong: "Your answer is among these.",
  fallenMissing: "Your answer is not among these. You answered: {given}.",
  fallenGone: "This is shown once. It is gone when you go on.",
  fallenTime: "It is sent by itself at {time}, or when you come back to this page later.",
  sendThese: "Send this",
  sendingTitle: "Sending",
  sending: "Sending your report.",
  waiting: "No connection yet. Trying again in {time}.",
  comeBack: "You can also come back later with this link.",
  sealed:
    "The coins have been tossed, and your real answers are already forgotten. Only the disguised report is kept " +
    "until it has arrived.",
  waitTitle: "Sealed, and waiting to be sent",
  wait: "It is sent by itself at a random moment, so that the time says little about whose report it is.",
  leaves: "It will be sent at {time}, {left}.",
  stay: "Please leave this page open until then.",
  stayOrReturn: "If you close it, the report is sent when you open your link again in this browser.",
  carryTitle: "Send it from another device or network",
  carry:
    "Link and file hold the sealed report. Opening one of them anywhere sends this very report, but not before " +
    "its moment. Keep them to yourself: they show the disguised report, and anyone who has them could send another " +
    "one in its place.",
  carriedLink: "Link with the sealed report",
  copy: "Copy the link",
  copied: "Copied.",
  save: "Save as a file",
  openToSend: "Send the sealed report",
  hold: "It will be sent from here as well, unless you stop that.",
  holdHere: "Do not send it from here",
  heldTitle: "Not sent from here",
  held:
    "This device keeps the sealed report and does not send it by itself. It counts only when it has been sent: by " +
    "the link, by the file, or from here.",
  sendHere: "Send it from here",
  thanksTitle: "Thank you",
  thanks: "Your report has arrived and was stored.",
  sentTitle: "This is all that was sent",
  sent: "It proves nothing about you: below each line is how often it is sent by people of whom it is not true.",
  sentWeak: "The coins may have changed it. Below each line is how often it is sent by people of whom it is not true.",
  sentPublic: "Answers to public questions are the exception: they were sent as you gave them.",
  sentBytes: "As the server stored it:",
  sentWhole: "Every byte that was sent",
  sentCheck: "When you opened your link, to see whether the invitation can be used:",
  sentAdmission:
    "When you began, to have a secret number signed that the server cannot see. Your device has erased the " +
    "blinded number, so that nobody can find out by it which report is yours:",
  sentReport: "Your report, in a request of its own and without the invitation:",
  sentOnly: "Your report:",
  erased: "512 digits, erased",
  nothing: "none of these",
  oneOf: "one of these: {said}",
  notAsked: "not asked",
  leftOut: "nothing is sent about this question",
  notPicked: "nothing was sent about this question",
  receipt: "Receipt:",
  kept: "This device remembers only that the survey was answered.",
  keptInvitation: "This device remembers only that the survey was answered with this invitation.",
  answeredTitle: "Already answered",
  answered: "This survey was answered on this device. A second report, with other coins, would weaken your protection.",
  otherInvitation: "Somebody else with an invitation can answer on this device, with the whole link of that invitation.",
  closedTitle: "This survey has ended",
  closed: "Answers are no longer taken.",
  links: {
    missing: [
      "An invitation is needed",
      "The link has no invitation at its end. Please use the whole link that you were sent.",
    ],
    truncated: [
      "The link is not complete",
      "Its end is missing. Please use the whole link that you were sent.",
    ],
    mistyped: [
      "The link has a mistake",
      "Its end is no invitation: it is too long, or has characters that no invitation has. Please compare it with " +
      "the link that you were sent.",
    ],
    spent: [
      "This invitation has been used",
      "If you began with it on another device or in another browser, please go on there. If not, somebody else may " +
      "have used it.",
    ],
    unknown_invitation: [
      "This invitation is not known",
      "It is not one of this survey’s, was withdrawn, or has a typing error.",
    ],
    invitation: [
      "This invitation cannot be used",
      "It has been used, or is not one of this survey’s.",
    ],
    no_key: [
      "The server cannot admit you",
      "It does not have the key of this survey. When that is repaired, please come back with this link in this browser.",
    ],
  },
  askWhom: "Whom to ask: {whom}",
  refusedTitle: "The server did not take the report",
  refused: "Nothing was asked again: the coins fall only once. You can send the same report again.",
  tryAgain: "Try again",
  stopTitle: "Please do not answer here",
  stop:
    "Your browser has checked this survey and found that it is not what your link promises. Nothing was asked and " +
    "nothing was sent.",
  falseAdmission:
    "The server’s signature is not by the key of this survey: a report that is sent with it would be refused, or " +
    "recognised. No question was asked.",
  noHash: "The link is not complete: the part behind # is missing or too short.",
  offlineTitle: "No connection",
  offline: "The survey could not be loaded. Nothing is lost.",
  audit: "How this survey works, and how to check it",
  rehearsal: "This is a rehearsal: no answer counts, and all of them will be thrown away.",
  askSender:
    "Ask the people who sent you the link, but not through this page: what it says about whom to ask may have been " +
    "changed, too.",
  receiptCheck: "Check that it is stored",
  receiptChecking: "Looking for your receipt.",
  receiptStored:
    "Your report is stored: your receipt is in the list that was just downloaded (receipts in it: {count}). Your " +
    "device searched the list itself, so the server was not told which receipt is yours.",
  receiptMissing: "Your receipt is not in the server’s list. Keep the receipt, try again later, and then ask.",
  receiptOffline: "The list could not be loaded. Try again later.",
  errors: {
    invitation: "This invitation has been used, or is not one of this survey’s.",
    signature: "The signature is not by the key of this survey.",
    other_report: "Another report was sent with the same credential.",
    closed: "This survey has ended.",
    other_survey: "The server holds another survey under this address.",
    unknown_survey: "The server does not know this survey.",
    receipt: "The server’s receipt is not that of your report.",
  },
  publicPromise:
    "Questions that are marked as public are the exception: their answers are sent as you give them, and no coin " +
    "protects them. The promise is about all other answers, whatever you answer to the public questions.",
  chooseAtMost: "Please choose no more than {most}.",
  chooseBetween: "Please choose {least} to {most}.",
  chooseExactly: "Please choose exactly {most}.",
  chooseEach: "Please choose an answer in every row.",
  publicNote: "This answer is public: it is sent as you give it, and no coin changes it.",
};
