// SPDX-License-Identifier: Apache-2.0
(() => {
  'use strict';
  const root = document.documentElement;
  root.classList.add('js');

  // The storage of a page from a file may be missing.
  const stored = {
    get() { try { return localStorage.getItem('theme'); } catch { return null; } },
    set(theme) { try { localStorage.setItem('theme', theme); } catch { /* the theme lasts until the page is left */ } },
  };
  const chosen = stored.get();
  if (chosen === 'dark' || chosen === 'light') root.dataset.theme = chosen;

  function toggleTheme() {
    const isDark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = isDark ? 'light' : 'dark';
    stored.set(root.dataset.theme);
  }

  // A filter shows the items that have the words, the values and the flags.
  function filter(form) {
    const items = [...document.querySelectorAll('[data-item]')];
    const empty = document.querySelector('[data-filter-empty]');
    const count = form.querySelector('[data-filter-count]');
    const text = form.querySelector('[data-filter-text]');
    const keys = [...form.querySelectorAll('[data-filter-key]')];
    const flags = [...form.querySelectorAll('[data-filter-flag]')];
    const apply = () => {
      const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
      const values = keys.filter((key) => key.value !== '');
      const on = flags.filter((flag) => flag.checked);
      let shown = 0;
      for (const item of items) {
        const matches = words.every((word) => item.dataset.search.includes(word))
          && values.every((key) => (item.dataset[key.dataset.filterKey] || '').split('\n').includes(key.value))
          && on.every((flag) => flag.dataset.filterFlag in item.dataset);
        if (item.hidden === matches) item.hidden = !matches;
        if (matches) shown++;
      }
      const noun = `${form.dataset.filters || 'application'}s`;
      count.textContent = shown === items.length ? `${shown} ${noun}` : `${shown} of ${items.length} ${noun}`;
      empty.hidden = shown > 0 || items.length === 0;
    };
    form.addEventListener('input', apply);
    form.addEventListener('change', apply);
    form.addEventListener('submit', (event) => event.preventDefault());
    document.addEventListener('keydown', (event) => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
      event.preventDefault();
      text.focus();
    });
    apply();
  }

  async function copy(button) {
    const source = document.getElementById(button.dataset.copy);
    let copied = true;
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      getSelection().selectAllChildren(source);
      copied = document.execCommand('copy');
    }
    button.textContent = copied ? 'Copied' : 'Press Ctrl+C';
    setTimeout(() => { button.textContent = 'Copy'; }, 2000);
  }

  // How long ago a day is depends on when the page is read.
  function age(time) {
    const days = Math.floor((Date.now() - new Date(time.dateTime)) / 86400000);
    if (days < 0) return;
    time.title = time.dateTime;
    time.textContent += days === 0 ? ' (today)' : days === 1 ? ' (a day ago)' : ` (${days} days ago)`;
  }

  document.addEventListener('DOMContentLoaded', () => {
    document.querySelector('[data-theme-toggle]').addEventListener('click', toggleTheme);
    document.querySelectorAll('[data-filters]').forEach(filter);
    document.querySelectorAll('[data-copy]').forEach((button) => button.addEventListener('click', () => copy(button)));
    document.querySelectorAll('time').forEach(age);
  });
})();
