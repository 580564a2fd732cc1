// The interface's languages: every text of the page is a key of en.json; the other files have the same keys.

import en from './en.json';
import ja from './ja.json';

export type Key = keyof typeof en;
export type Language = 'en' | 'ja';
export const LANGUAGES: readonly { code: Language; name: string }[] = [
  { code: 'en', name: 'English' },
  { code: 'ja', name: '日本語' },
];

const texts: Record<Language, Record<Key, string>> = { en, ja };
const STORED = 'karakuri.language';

function preferred(): Language {
  const stored = globalThis.localStorage?.getItem(STORED);
  if (stored === 'en' || stored === 'ja') return stored;
  return globalThis.navigator?.language.startsWith('ja') ? 'ja' : 'en';
}

let language = $state<Language>(preferred());

/** The language that is shown. */
export function currentLanguage(): Language {
  return language;
}

/** Shows another language, and keeps it for the next visit. */
export function setLanguage(code: Language): void {
  language = code;
  globalThis.localStorage?.setItem(STORED, code);
  if (globalThis.document) document.documentElement.lang = code;
}

/** The text of a key in the current language, with `{name}` replaced by the argument of that name. */
export function t(key: Key, args: Record<string, string | number> = {}): string {
  return fill(texts[language][key], args);
}

/** The text of a code that the server sent, or `fallback` where this page is older than the server. */
export function coded(
  prefix: string,
  code: string,
  fallback: string,
  args: Record<string, string | number> = {},
): string {
  const text = (texts[language] as Record<string, string>)[`${prefix}.${code}`];
  return text === undefined ? fallback : fill(text, args);
}

function fill(text: string, args: Record<string, string | number>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(args[name] ?? whole));
}
