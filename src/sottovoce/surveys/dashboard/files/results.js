// Says that more reports have arrived since this page was made. Everything else works without it.

const live = document.querySelector(".live");
const shown = Number(live.dataset.reports);
const SECONDS = 10;

async function look() {
  if (document.hidden) return;
  const response = await fetch(live.dataset.counts, { headers: { accept: "application/json" } });
  if (!response.ok) return;
  const { reports } = await response.json();
  if (reports <= shown) return;
  const link = document.createElement("a");
  link.href = location.href;
  link.textContent = "Show the newest results";
  const arrived = reports - shown;
  const number = new Intl.NumberFormat("en").format(arrived);
  live.replaceChildren(`${number} more ${arrived === 1 ? "report has" : "reports have"} arrived. `, link, ".");
}

setInterval(() => look().catch(() => {}), 1000 * SECONDS);
