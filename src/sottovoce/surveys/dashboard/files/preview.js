// In the preview of a draft, the respondents' page sends what it has to send with the session of the researcher who
// looks at it, and not without any as respondents do: nothing below the researchers' path answers strangers.
{
  const { csrf } = document.currentScript.dataset;
  const plainFetch = window.fetch;
  window.fetch = (address, options) => {
    if (!options) return plainFetch(address);
    const body = options.body === undefined ? undefined : new URLSearchParams({ submission: options.body });
    const headers = { accept: "application/json", "x-csrf-token": csrf };
    return plainFetch(address, { ...options, body, headers, credentials: "same-origin", referrerPolicy: "same-origin" });
  };
}
