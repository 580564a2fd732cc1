// Keyboard shortcuts: one table, for the keyboard and for the page that lists them.

import type { Key } from '../i18n/index.svelte';

export interface Shortcut {
  /** Keys as they are shown: `Ctrl+Shift+Z`. */
  keys: string[];
  /** Text of what it does. */
  text: Key;
  run: () => void;
}

/** The keys of an event, as a shortcut names them. Letters go by what is typed: keyboards differ in where they have them. */
export function keysOf(event: KeyboardEvent): string {
  const named: Record<string, string> = { ' ': 'Space', ArrowLeft: '\u2190', ArrowRight: '\u2192' };
  const key = named[event.key] ?? (event.key.length === 1 ? event.key.toUpperCase() : event.key);
  const parts: string[] = [];
  if (event.ctrlKey || event.metaKey) parts.push('Ctrl');
  if (event.altKey) parts.push('Alt');
  // Shift is part of a sign such as `?`
  if (event.shiftKey && (event.key.length > 1 || /[a-z ]/i.test(event.key))) parts.push('Shift');
  return [...parts, key].join('+');
}

/** Whether a key belongs to what has the focus: text that is typed, a list or a slider that is moved. */
export function isTaken(event: KeyboardEvent): boolean {
  if (event.isComposing || event.defaultPrevented) return true;
  const target = event.target;
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLTextAreaElement || target.isContentEditable) return true;
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
  if (target instanceof HTMLInputElement) {
    if (target.type === 'text' || target.type === 'number') return plain || /^[acvxyz]$/i.test(event.key);
    return (
      plain &&
      (event.key === ' ' || event.key.startsWith('Arrow') || event.key === 'Home' || event.key === 'End')
    );
  }
  if (target instanceof HTMLSelectElement) return plain;
  if (target instanceof HTMLButtonElement) return plain && (event.key === ' ' || event.key === 'Enter');
  return target.getAttribute('role') === 'separator' && event.key.startsWith('Arrow');
}
