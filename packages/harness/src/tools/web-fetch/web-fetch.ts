/** Fetches a web page as text. Requests carry no credentials, and every redirect is checked. */
import { z } from 'zod'
import type { DomainLists } from '../domains.ts'
import { domainRule } from '../domains.ts'
import type { GuardedFetch } from '../fetch.ts'
import type { WebAccess } from '../egress.ts'
import { readBodyBytes, reasonOf } from '../egress.ts'
import type { Tool, ToolResult } from '../tool.ts'
import { textResult } from '../tool.ts'
import { showPage } from './page.ts'

export type WebFetchConfig = DomainLists & { max_content_tokens?: number | null | undefined }

const mostHops = 10
const mostBytes = 10 * 1024 * 1024
const longestUrl = 2_048
/** Time for both the download and the conversion. */
const timeLimitMs = 45_000
const headers = {
  accept: 'text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.8',
  'accept-language': 'en, *;q=0.5',
  'user-agent': 'Mozilla/5.0 (compatible; Steward)',
}

const Input = z.object({ url: z.string() })

export const webFetch: Pick<Tool, 'name' | 'description' | 'input_schema' | 'repeat'> = {
  name: 'web_fetch',
  description:
    'Fetches a page by its whole URL and returns it as text: HTML as markdown, PDF, plain text and JSON as they are, pictures to look at. Pages that need a login cannot be fetched.',
  input_schema: {
    type: 'object',
    properties: { url: { type: 'string', description: 'http or https, with its host' } },
    required: ['url'],
  },
  repeat: 'safe',
}

export function fetchPage(
  { fetch, conversionSlot }: Pick<WebAccess, 'fetch' | 'conversionSlot'>,
  config: WebFetchConfig,
): Tool['run'] {
  const isListed = domainRule(config)
  return async (input, { signal }) => {
    const { url } = Input.parse(input)
    const until = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)])
    try {
      const found = await follow(url, fetch, isListed, until)
      if ('content' in found) return found
      const { response, at } = found
      const page = { ...(await readBodyBytes(response, mostBytes)), url: at }
      const type = response.headers.get('content-type') ?? ''
      const shown = { ...page, type, status: response.status }
      return await showPage(shown, config, { conversionSlot, signal: until })
    } catch (error) {
      if (signal.aborted) return textResult('interrupted', true)
      const why = until.aborted ? `no answer within ${timeLimitMs} ms` : reasonOf(error)
      return failure('url_not_accessible', why)
    }
  }
}

const failure = (code: string, why: string): ToolResult => textResult(`${code}: ${why}`, true)

/** Follows redirects to the first other answer. */
async function follow(
  given: string,
  fetch: GuardedFetch,
  isListed: (url: URL) => boolean,
  signal: AbortSignal,
): Promise<{ response: Response; at: URL } | ToolResult> {
  let at = URL.parse(given)
  for (let hop = 0; hop <= mostHops; hop++) {
    const wrong = at ? unfit(at) : 'is no URL'
    if (!at || wrong) return failure('invalid_input', `${hop === 0 ? 'it' : 'a redirect'} ${wrong}`)
    if (!isListed(at))
      return failure('url_not_allowed', `the domain lists of web_fetch rule out ${at.hostname}`)
    at.hash = ''
    const response = await fetch(at, { method: 'GET', headers, redirect: 'manual', signal })
    const location = response.headers.get('location')
    if (![301, 302, 303, 307, 308].includes(response.status) || location === null)
      return { response, at }
    await response.body?.cancel()
    at = URL.parse(location, at.href)
  }
  return failure('url_not_accessible', `more than ${mostHops} redirects`)
}

function unfit(url: URL): string | undefined {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'is neither http nor https'
  if (url.username !== '' || url.password !== '') return 'holds credentials'
  return url.href.length > longestUrl ? `is longer than ${longestUrl} characters` : undefined
}
