/**
 * Port of the context: what a person at the provider would have read before the request. It is asked for after a
 * delivery was stored, and read by agents as data.
 */
import type { z } from 'zod'
import type { ContextData, IncomingFile } from '../../ground/database/tables/integrations.ts'
import type { IncomingMessage, ProviderCall } from './integration.ts'
import type { PublicationSpec } from '@steward/protocol/integrations.ts'
import type { Remembered } from './remembered.ts'

/** `what`: what is missing where the provider does not answer, in words for the agent and for the tenant. */
export type ContextQuestion<Answer> = { call: ProviderCall; form: z.ZodType<Answer>; what: string }

export type ContextSource = {
  /** Undefined where the provider does not answer; that is then noted as missing. */
  ask: <Answer>(question: ContextQuestion<Answer>) => Promise<Answer | undefined>
  /** Notes that something is missing, and why. */
  miss: (text: string) => void
  /** The `since` of the last message that the session has read. Null: the session begins. */
  since: string | null
  spec: PublicationSpec
  /** What the provider calls the app as a user. */
  botUserId: string | null
  /** Asks once for a while, with the same key. */
  remembered: Remembered
}

export type Context = { readonly [label: string]: ContextData }

export type GatheredContext = { context: Context; files?: readonly IncomingFile[] }

/** Asks the provider for what stands around a message. Has no effect there. */
export type GatherContext = (
  source: ContextSource,
  message: IncomingMessage,
) => Promise<GatheredContext>
