/** The page for a browser at an address that has nothing. */
import type { IncomingMessage } from 'node:http'

/** True for a person's browser that opens an address outside of the interfaces. */
export const wantsPage = ({ method, headers, url = '' }: IncomingMessage): boolean =>
  method === 'GET' &&
  (headers.accept ?? '').includes('text/html') &&
  !/^\/(?:v1|openai)(?:[/?]|$)/.test(url)

export const absentPageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
}

export const absentPage = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Not found · Steward</title>
  </head>
  <body>
    <h1>There is no such page</h1>
    <p><a href="/signin">Sign in</a> · <a href="/docs/">Documentation</a></p>
  </body>
</html>
`
