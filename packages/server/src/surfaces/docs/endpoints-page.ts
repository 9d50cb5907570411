/**
 * The page on which people read the description. Its files come from a package and are served here, so that the page
 * asks no other host.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Header } from '../../ground/http/caller.ts'
import { packedBytes } from '../../ground/http/bodies/packed-bytes.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import type { Route } from '../../ground/http/route.ts'
import { route } from '../../ground/http/route.ts'

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Steward: API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="docs/swagger-ui.css">
<link rel="stylesheet" href="docs/page.css">
<script src="docs/swagger-ui-bundle.js" defer></script>
<script src="docs/page.js" defer></script>
</head>
<body>
<nav><a href="docs/">Documentation</a> · <a href="docs">/v1</a> · <a href="docs?of=openai">/openai/v1</a></nav>
<div id="page"></div>
<noscript>This page needs JavaScript. The descriptions themselves: <a href="openapi.json">/v1</a>, <a href="openai/v1/openapi.json">/openai/v1</a></noscript>
</body>
</html>
`

/** The page asks no other host to validate, and forgets the key when the tab is closed. */
const script = `const isOpenAI = new URLSearchParams(location.search).get('of') === 'openai'
SwaggerUIBundle({
  url: isOpenAI ? 'openai/v1/openapi.json' : 'openapi.json',
  dom_id: '#page',
  validatorUrl: null,
  persistAuthorization: false,
  deepLinking: true,
  filter: true,
  showExtensions: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
})
`

/** On a phone, the cells of the library's tables stand below each other. */
const style = `@media (max-width: 700px) {
  .swagger-ui .wrapper { padding: 0 10px }
  .swagger-ui .opblock-tag { flex-wrap: wrap }
  .swagger-ui .opblock-tag > a { flex: 1 }
  .swagger-ui .opblock-tag > small { order: 1; flex: 1 0 100%; padding: 4px 0 }
  .swagger-ui :is(.responses-table, .parameters),
  .swagger-ui :is(.responses-table, .parameters) > tbody,
  .swagger-ui :is(.responses-table, .parameters) > tbody > tr,
  .swagger-ui :is(.responses-table, .parameters) > tbody > tr > td { display: block; width: auto; max-width: none; min-width: 0; padding: 4px 0 }
  .swagger-ui :is(.responses-table, .parameters) > thead,
  .swagger-ui .responses-table > tbody > tr > .response-col_links { display: none }
  .swagger-ui pre { white-space: pre-wrap }
  .swagger-ui .renderedMarkdown { overflow-x: auto }
  .swagger-ui :is(select, input, textarea) { max-width: 100% }
}
`

/** Allows only our own scripts, and requests only to this service: a key that somebody types in goes nowhere else. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = (type: string): [string, string][] => [
  ['content-type', `${type}; charset=utf-8`],
  ['content-security-policy', policy],
  ['cross-origin-opener-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
  ['cache-control', 'public, max-age=3600'],
]

type Asset = (call: { header: Header }) => Promise<RouteReply>

/** The library of the page is megabytes of text. */
const asset = (type: string, load: () => Promise<Buffer>): Asset => packedBytes(load, headers(type))

const fromText = (type: string, text: string): Asset => asset(type, async () => Buffer.from(text))

const fromPackage = (type: string, url: string): Asset =>
  asset(type, () => readFile(fileURLToPath(url)))

const open = {
  method: 'get',
  callers: ['anyone'],
  section: 'Health',
  answer: 'bytes',
  isPage: true,
} as const

export const endpointsPageRoutes = (): Route[] => [
  route(
    { ...open, path: '/docs', summary: 'Show the API reference as a page' },
    fromText('text/html', page),
  ),
  route(
    { ...open, path: '/docs/page.js', summary: 'Get the script of the page' },
    fromText('text/javascript', script),
  ),
  route(
    { ...open, path: '/docs/page.css', summary: 'Get the styles that the page adds' },
    fromText('text/css', style),
  ),
  route(
    { ...open, path: '/docs/swagger-ui-bundle.js', summary: 'Get the library that draws the page' },
    fromPackage('text/javascript', import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
  ),
  route(
    { ...open, path: '/docs/swagger-ui.css', summary: 'Get the styles of the page' },
    fromPackage('text/css', import.meta.resolve('swagger-ui-dist/swagger-ui.css')),
  ),
]
