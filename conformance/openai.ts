/** The unmodified `openai` client, newest and oldest, over a running service. */
import OpenAI from 'openai'
import OldestOpenAI from 'openai-older'
import { checkedOpenAIFetch } from './openai-answers.ts'
import type { ServiceClients } from './service.ts'
import { adminKey } from './service.ts'

const optionsOf = ({ base }: Pick<ServiceClients, 'base'>, apiKey: string) => ({
  baseURL: `${base}/openai/v1`,
  apiKey,
  maxRetries: 0,
  fetch: checkedOpenAIFetch,
})

export const newestOpenAI = (service: Pick<ServiceClients, 'base'>, key = adminKey): OpenAI =>
  new OpenAI(optionsOf(service, key))
export const oldestOpenAI = (service: Pick<ServiceClients, 'base'>, key = adminKey): OldestOpenAI =>
  new OldestOpenAI(optionsOf(service, key))

export type OpenAIEvent = OpenAI.Beta.AgentSessionEvent

/** Types of the events without their common prefix. */
export const typesOf = (events: readonly { type: string }[]): string[] =>
  events.map(({ type }) => type.replace(/^agent\.session\./, ''))
