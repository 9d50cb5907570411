/** Searches the web with the operator's search engine. */
import { z } from 'zod'
import type { DomainLists } from '../domains.ts'
import { domainRule } from '../domains.ts'
import type { WebAccess } from '../egress.ts'
import { reasonOf } from '../egress.ts'
import type { Tool } from '../tool.ts'
import { textResult } from '../tool.ts'

export type WebSearchConfig = DomainLists & {
  user_location?: { country?: string | null | undefined } | null | undefined
}

const timeLimitMs = 30_000
const answered = { web_searches: 1 }
const Input = z.object({ query: z.string().trim().min(1) })

export const webSearch: Pick<Tool, 'name' | 'description' | 'input_schema' | 'repeat'> = {
  name: 'web_search',
  description:
    'Searches the web and returns pages with their address, title and what they say of the matter.',
  input_schema: {
    type: 'object',
    properties: { query: { type: 'string', minLength: 1, maxLength: 400 } },
    required: ['query'],
  },
  repeat: 'safe',
}

/** Hits outside of the domain lists are left out silently. */
export function searchWeb({ fetch, search }: WebAccess, config: WebSearchConfig): Tool['run'] {
  const isListed = domainRule(config)
  const { allowed_domains, blocked_domains, user_location } = config
  return async (input, { signal }) => {
    const { query } = Input.parse(input)
    if (allowed_domains?.length === 0) return textResult(noDomain, true)
    if (!search) return textResult(notSetUp, true)
    const until = AbortSignal.any([signal, AbortSignal.timeout(timeLimitMs)])
    const country = user_location?.country
    const wanted = {
      query,
      allowed: allowed_domains ?? [],
      blocked: blocked_domains ?? [],
      ...(country ? { country } : {}),
    }
    try {
      const found = await search.search(wanted, { fetch, signal: until })
      if (!found.ok) return textResult(`unavailable: ${found.message}`, true)
      const hits = found.hits.filter(({ url }) => {
        const at = URL.parse(url)
        return at !== null && isListed(at)
      })
      if (hits.length === 0) return { ...textResult('nothing was found'), ...answered }
      return {
        content: hits.map(({ url, title, text }) => ({
          type: 'search_result',
          source: url,
          title,
          content: [{ type: 'text', text }],
          citations: { enabled: false },
        })),
        is_error: false,
        ...answered,
      }
    } catch (error) {
      if (signal.aborted) return textResult('interrupted', true)
      const why = until.aborted ? `no answer within ${timeLimitMs} ms` : reasonOf(error)
      return textResult(`unavailable: ${why}`, true)
    }
  }
}

const noDomain =
  'url_not_allowed: no domain is left that both this agent and the agent that has started it may search'
const notSetUp =
  'unavailable: web search is not set up on this service; its operator has to give the key of a search engine'
