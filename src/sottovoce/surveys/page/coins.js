// Words become sides of coins, and sides become entries of lists and the order of shuffled ones.

const WORD = 2n ** 32n;

// Stream of words that nobody can predict: the device's own.
export function* secureWords() {
  const words = new Uint32Array(64);
  for (;;) {
    crypto.getRandomValues(words);
    yield* words;
  }
}

// What the coins of one record show. A block of words is read to its end before it is accepted or thrown away, and
// no truth is looked at before.
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

// Entry of a list in whose run of sides a side falls.
export function picked(runs, side) {
  let end = 0n;
  return runs.findIndex((run) => side < (end += run));
}

// Entries after each place in turn was swapped with the one as far behind it as its coin shows.
export function shuffled(entries, shown) {
  const order = [...entries];
  shown.forEach((jump, place) => {
    const other = place + Number(jump);
    [order[place], order[other]] = [order[other], order[place]];
  });
  return order;
}
