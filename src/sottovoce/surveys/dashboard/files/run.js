// Live numbers, copying and printing. Every page works without this.

const EVERY = 5000;

const live = document.querySelector("[data-counts]");

async function refresh() {
  const response = await fetch(live.dataset.counts, { headers: { accept: "application/json" } });
  if (!response.ok) return response.status < 500; // without a session there is nothing more to come
  const counts = await response.json();
  for (const place of document.querySelectorAll("[data-count]")) {
    place.textContent = counts[place.dataset.count].toLocaleString("en");
  }
  return false;
}

async function keepFresh() {
  let over = false;
  try {
    over = !document.hidden && (await refresh());
  } catch {
    // the server may be back in a moment
  }
  if (!over) setTimeout(keepFresh, EVERY);
}

if (live) setTimeout(keepFresh, EVERY);

for (const button of document.querySelectorAll("[data-copy]")) {
  const source = document.getElementById(button.dataset.copy);
  const name = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(source.textContent.trim());
      button.textContent = "Copied";
    } catch {
      // without permission, or without encryption: select it, so that the keyboard copies it
      getSelection().selectAllChildren(source);
      button.textContent = "Selected: copy it with your keyboard";
    }
    setTimeout(() => { button.textContent = name; }, 3000);
  });
}

for (const button of document.querySelectorAll("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

for (const input of document.querySelectorAll("[data-most-bytes]")) {
  input.addEventListener("change", () => {
    const tooLarge = [...input.files].some((file) => file.size > input.dataset.mostBytes);
    input.setCustomValidity(tooLarge ? "This file is too large. Split it, and withdraw the parts one by one." : "");
    input.reportValidity();
  });
}
