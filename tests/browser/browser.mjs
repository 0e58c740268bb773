import {chromium} from 'playwright-core';

const FLAGS = ['--no-sandbox', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync'];

// The browser that CHROMIUM names, without a window.
export const launch = (...more) =>
  chromium.launch({executablePath: process.env.CHROMIUM, args: [...FLAGS, ...more]});
