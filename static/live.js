// Keeps a page current: swaps the fragments that the server pushes once a second, by id. Without this script every page
// still works; it only stands still. The server renders and escapes all HTML; nothing here builds any.
"use strict";

(() => {
  const address = document.body.dataset.live;
  const state = document.getElementById("live");
  if (!address || !state || !("EventSource" in window)) return;

  const SILENCE_MS = 5_000;
  const RETRY_MS = [1_000, 2_000, 5_000, 10_000];

  let source = null;
  let paused = false;
  let failures = 0;
  let retry = 0;
  let watchdog = 0;

  const word = document.createElement("span");
  word.setAttribute("role", "status");
  const toggle = document.createElement("button");
  toggle.type = "button";
  toggle.className = "quiet";
  state.append(word, toggle);
  state.hidden = false;

  const WORDS = {
    connecting: "◌ connecting",
    live: "● live",
    paused: "‖ paused",
    disconnected: "○ disconnected, trying again",
  };

  // Text that stays the same is not written again: a screen reader would read it out each second.
  function show(name) {
    if (state.dataset.state === name) return;
    state.dataset.state = name;
    word.textContent = WORDS[name];
    toggle.textContent = paused ? "Resume" : "Pause";
  }

  function connect() {
    disconnect();
    if (paused || document.hidden) return show("paused");
    if (failures === 0) show("connecting");
    source = new EventSource(address);
    source.addEventListener("tick", (event) => {
      failures = 0;
      show("live");
      watch();
      swapAll(event.data);
    });
    source.addEventListener("error", lost);
    watch();
  }

  function disconnect() {
    clearTimeout(retry);
    clearTimeout(watchdog);
    if (source) source.close();
    source = null;
  }

  // EventSource gives up for good on an error status, so the retries are ours.
  function lost() {
    disconnect();
    show("disconnected");
    retry = setTimeout(connect, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]);
    failures += 1;
  }

  function watch() {
    clearTimeout(watchdog);
    watchdog = setTimeout(lost, SILENCE_MS);
  }

  function swapAll(html) {
    if (!html) return;
    const parsed = document.createElement("template");
    parsed.innerHTML = html;
    for (const fresh of parsed.content.querySelectorAll(":scope > [id]")) {
      const old = document.getElementById(fresh.id);
      if (old && !isBeingRead(old)) swap(old, fresh);
    }
  }

  // Whoever is selecting text or choosing in a list does not want it pulled away.
  function isBeingRead(element) {
    const selection = document.getSelection();
    if (selection && !selection.isCollapsed && selection.containsNode(element, true)) return true;
    const focused = document.activeElement;
    return element.contains(focused) && focused.matches("input, select, textarea");
  }

  function swap(old, fresh) {
    for (const details of old.querySelectorAll("details[id][open]")) {
      const twin = find(fresh, details.id);
      if (twin) twin.open = true;
    }
    const scrolled = [...old.querySelectorAll(".scroll")].map((area) => [area.scrollLeft, area.scrollTop]);
    const focus = focusable(old).indexOf(document.activeElement);
    old.replaceWith(fresh);
    [...fresh.querySelectorAll(".scroll")].forEach((area, n) => {
      if (scrolled[n]) [area.scrollLeft, area.scrollTop] = scrolled[n];
    });
    if (focus >= 0) focusable(fresh)[focus]?.focus({ preventScroll: true });
  }

  function find(root, id) {
    return root.querySelector(`#${CSS.escape(id)}`);
  }

  function focusable(root) {
    return [...root.querySelectorAll("a[href], button, summary, [tabindex]")];
  }

  toggle.addEventListener("click", () => {
    paused = !paused;
    delete state.dataset.state;
    failures = 0;
    connect();
  });
  document.addEventListener("visibilitychange", connect);
  window.addEventListener("pagehide", disconnect);
  window.addEventListener("pageshow", (event) => {
    if (event.persisted) connect();
  });

  connect();
})();
