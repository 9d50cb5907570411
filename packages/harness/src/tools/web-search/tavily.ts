/** Tavily's search API. https://docs.tavily.com/documentation/api-reference/endpoint/search */
import { createMask } from '@steward/mask/mask.ts'
import { z } from 'zod'
import { readBodyBytes } from '../egress.ts'
import type { SearchProvider, SearchQuery } from './provider.ts'

const mostHits = 10
const mostBytes = 4 * 1024 * 1024
const Found = z.object({
  results: z.array(
    z.object({ url: z.string(), title: z.string().nullish(), content: z.string().nullish() }),
  ),
})

/** `baseUrl` has no final slash. */
export function tavilySearch({
  apiKey,
  baseUrl = 'https://api.tavily.com',
}: {
  /** SECRET: never logged. */
  apiKey: string
  baseUrl?: string
}): SearchProvider {
  const mask = createMask([apiKey], { least: 6 })
  return {
    async search(wanted, { fetch, signal }) {
      const response = await fetch(`${baseUrl}/search`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` },
        body: JSON.stringify(bodyOf(wanted)),
        redirect: 'manual',
        signal,
      })
      const { bytes, isWhole } = await readBodyBytes(response, mostBytes)
      if (response.status !== 200) return { ok: false, message: problems(response.status) }
      const found = isWhole ? Found.safeParse(parsed(bytes.toString())) : undefined
      if (!found?.success)
        return { ok: false, message: 'the search engine gave an answer that makes no sense' }
      // An engine may repeat its request with the key, for example in errors.
      const hiding = (text: string) => mask?.text(text) ?? text
      const hits = found.data.results.map(({ url, title, content }) => ({
        url: hiding(url),
        title: hiding(title ?? url),
        text: hiding(content ?? ''),
      }))
      return { ok: true, hits }
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The engine takes hosts only; the caller checks the paths. */
function bodyOf({ query, allowed, blocked, country }: SearchQuery) {
  const hosts = (list: readonly string[]) => [
    ...new Set(list.flatMap((entry) => entry.split('/', 1))),
  ]
  const whole = blocked.filter((entry) => !entry.replace(/\/$/, '').includes('/'))
  const named = country && countryName(country)
  return {
    query,
    max_results: mostHits,
    ...(allowed.length > 0 ? { include_domains: hosts(allowed) } : {}),
    ...(whole.length > 0 ? { exclude_domains: hosts(whole) } : {}),
    ...(named ? { country: named } : {}),
  }
}

/** The engine takes English country names in lower case. */
function countryName(code: string): string | undefined {
  if (!/^[A-Za-z]{2}$/.test(code)) return undefined
  const name = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }).of(
    code.toUpperCase(),
  )
  return name?.toLowerCase()
}

const problems = (status: number): string =>
  status === 401 || status === 403
    ? `the search engine refuses the key of this service (${status}); its operator has to renew it`
    : status === 429 || status === 432 || status === 433
      ? `the search engine has had enough requests for now (${status})`
      : `the search engine answered ${status}`
