// Random words become sides of coins; sides choose entries of lists and shuffle them.

const WORD = 2n ** 32n;

// Words that nobody can predict: the device's own randomness.
export function* secureWords() {
  const words = new Uint32Array(64);
  for (;;) {
    crypto.getRandomValues(words);
    yield* words;
  }
}

// Toss the coins of one record. All its words are read before they are accepted or thrown away together, and no true
// answer is looked at before.
export function flip(coins, words) {
  for (;;) {
    const shown = [];
    let accepted = true;
    for (const sides of coins) {
      const wide = sides > WORD || WORD % sides > 2n ** 20n;
      let value = BigInt(words.next().value);
      if (wide) value = value * WORD + BigInt(words.next().value);
      const step = (wide ? WORD * WORD : WORD) / sides;
      accepted = value < step * sides && accepted;
      shown.push(value / step);
    }
    if (accepted) return shown;
  }
}

// Index of the entry that a side belongs to, where each entry has as many sides as its weight.
export function pick(weights, side) {
  let end = 0n;
  return weights.findIndex((weight) => side < (end += weight));
}

// Swap each entry in turn with the one as far behind it as its coin shows.
export function shuffle(entries, shown) {
  const order = [...entries];
  shown.forEach((jump, index) => {
    const other = index + Number(jump);
    [order[index], order[other]] = [order[other], order[index]];
  });
  return order;
}
