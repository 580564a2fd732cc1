import { mount } from 'svelte';
import App from './App.svelte';
import { currentLanguage } from './i18n/index.svelte';
import { Studio } from './session/studio.svelte';
import './app.css';

// The secret stays in the fragment, which no browser sends to a server.
const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
document.documentElement.lang = currentLanguage();
const studio = new Studio(token);
const target = document.getElementById('app');
if (target) mount(App, { target, props: { studio } });
void studio.connect();
// Nobody looks at a hidden page: to the server its user is away, and a robot holds.
document.addEventListener('visibilitychange', () => studio.present(!document.hidden));
