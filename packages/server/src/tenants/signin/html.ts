/** Pages without scripts, enforced by a strict content security policy. */
import { Readable } from 'node:stream'
import { Html, html } from '../../ground/http/html.ts'
import type { RouteReply } from '../../ground/http/reply.ts'
import { signInStyle } from './style.ts'

/**
 * Allows no script and no frame, and forms only to this service. `script`: the page has the one script of ours.
 * `formsLeadTo`: where a form of the page is redirected to, which some browsers check too.
 */
const policyOf = (styleHash: string, { script, formsLeadTo }: Partial<PageContent>): string =>
  [
    "default-src 'none'",
    ...(script === undefined ? [] : ["script-src 'self'"]),
    `style-src 'sha256-${styleHash}'`,
    'img-src data:',
    formsLeadTo === undefined ? "form-action 'self'" : `form-action 'self' ${formsLeadTo}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

type PageContent = {
  status?: number
  title: string
  body: Html
  script?: string
  formsLeadTo?: string
}

export function renderPage(
  { status = 200, title, body, script, formsLeadTo }: PageContent,
  cookies: readonly string[] = [],
): RouteReply {
  const style = signInStyle()
  const { text } = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title} · Steward</title>
        <link rel="icon" href="data:," />
        <style>
          ${new Html(style.text)}
        </style>
        ${script === undefined ? '' : html`<script src="${script}" defer></script>`}
      </head>
      <body>
        <main>
          <header>Steward</header>
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html> `
  const bytes = Buffer.from(
    text.replace(/<style>\s*/, '<style>').replace(/\s*<\/style>/, '</style>'),
  )
  return {
    reply: 'raw',
    status,
    headers: [
      ['content-type', 'text/html; charset=utf-8'],
      ['content-length', String(bytes.length)],
      [
        'content-security-policy',
        policyOf(style.hash, { ...(script && { script }), ...(formsLeadTo && { formsLeadTo }) }),
      ],
      ['cross-origin-opener-policy', 'same-origin'],
      // A browser posts the form of a page without a referrer with the origin `null`.
      ['referrer-policy', 'same-origin'],
      ['x-content-type-options', 'nosniff'],
      ['cache-control', 'no-store'],
      ...cookies.map((cookie): [string, string] => ['set-cookie', cookie]),
    ],
    body: Readable.from([bytes]),
  }
}

/** The answer to a form: the browser can reload the page without posting again. */
export const seeOther = (path: string, cookie?: string): RouteReply => ({
  reply: 'empty',
  status: 303,
  headers: { location: path, 'cache-control': 'no-store', ...(cookie && { 'set-cookie': cookie }) },
})

export const renderAlert = (message: string | undefined): Html =>
  message === undefined ? html`` : html`<p role="alert">${message}</p>`

export const hiddenField = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`

type FormField = { name: string; label: string; type?: string; complete?: string; value?: string }

export const renderField = ({
  name,
  label,
  type = 'text',
  complete = 'off',
  value = '',
}: FormField): Html =>
  html`<label
    >${label}<input
      name="${name}"
      type="${type}"
      autocomplete="${complete}"
      value="${value}"
      required
  /></label>`

export const emailField = (value = ''): Html =>
  renderField({ name: 'email', label: 'Email', type: 'email', complete: 'username', value })

export const newPasswordField = (): Html =>
  renderField({
    name: 'password',
    label: 'New password, 10 characters or more',
    type: 'password',
    complete: 'new-password',
  })

export type FormToken = { hidden: Html; cookies: string[] }

/** `isFirst`: what most people come to the page for. */
type FormFace = { action: string; token: FormToken; button: string; isFirst?: boolean }

export const renderForm = (
  { action, token, button, isFirst = false }: FormFace,
  ...fields: Html[]
): Html =>
  html`<form method="post" action="${action}" ${isFirst ? new Html(' class="first"') : ''}>
    ${token.hidden}${fields}<button>${button}</button>
  </form>`
