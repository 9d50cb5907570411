/** The console: one page for all of its addresses, and its hashed files. It uses the API like any other client. */
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { basePath } from '../../ground/config/base-url.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import type { Header } from '../../ground/http/caller.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import type { Route } from '../../ground/http/route.ts'
import { section } from '../../ground/http/section.ts'
import { consoleBuild } from './build.ts'
import { shellAt, readTheme, unbuiltPage } from './shell.ts'

/** Attack: what agents and tools say becomes markup. Nothing but files of this service runs or is loaded. */
const policy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "object-src 'none'",
  "frame-src 'none'",
  "frame-ancestors 'none'",
  "base-uri 'self'",
  "form-action 'self'",
].join('; ')

const safe: [string, string][] = [
  ['content-security-policy', policy],
  ['cross-origin-opener-policy', 'same-origin'],
  ['referrer-policy', 'no-referrer'],
  ['x-content-type-options', 'nosniff'],
]

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

const distFolder = fileURLToPath(
  new URL('dist', import.meta.resolve('@steward/console/package.json')),
)

const pages = section('The console', ['anyone'], '/console')
const shown = { answer: 'bytes', isPage: true, counted: 'never' } as const

export function consoleRoutes({
  publicUrl,
  consoleFolder = distFolder,
}: {
  publicUrl: string | undefined
  /** The folder of the build. */
  consoleFolder?: string | undefined
}): Route[] {
  const build = consoleBuild(consoleFolder)
  const base = `${basePath(publicUrl)}/console/`
  const signIn = `${basePath(publicUrl)}/signin`

  function page(text: string, status: number): RouteReply {
    const bytes = Buffer.from(text)
    return {
      reply: 'raw',
      status,
      headers: [
        ...safe,
        ['content-type', 'text/html; charset=utf-8'],
        ['content-length', String(bytes.length)],
        ['cache-control', 'no-cache'],
        ['vary', 'cookie'],
      ],
      body: Readable.from([bytes]),
    }
  }

  async function shell({ header }: { header: Header }) {
    const found = await build.shell()
    return found === undefined
      ? page(unbuiltPage(signIn), 503)
      : page(shellAt(found, base, readTheme(header('cookie'))), 200)
  }

  return [
    pages.get('', { ...shown, summary: 'Show the console' }, shell),
    pages.get('/', { ...shown, summary: 'Show the console at its own path' }, shell),
    pages.get(
      '/assets/:file',
      { ...shown, summary: 'Get a file of the console' },
      async ({ header, params }) => {
        const { file: name } = params
        const file = await build.file(`assets/${name}`, header('accept-encoding') ?? '')
        // Never the page: a browser would run it as the script that it asked for.
        if (!file)
          throw new PlatformError('not_found', 'this build of the console has no such file')
        const headers: [string, string][] = [
          ...safe,
          ['content-type', types[extname(name)] ?? 'application/octet-stream'],
          ['content-length', String(file.bytes.length)],
          ['cache-control', 'public, max-age=31536000, immutable'],
          ['vary', 'accept-encoding'],
        ]
        if (file.encoding !== undefined) headers.push(['content-encoding', file.encoding])
        return { reply: 'raw', status: 200, headers, body: Readable.from([file.bytes]) }
      },
    ),
    pages.get('/:page{.+}', { ...shown, summary: 'Show a page of the console' }, shell),
  ]
}
