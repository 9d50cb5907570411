import { z } from 'zod'
import { Line, ListQuery, Timestamp } from './primitives.ts'

const price = z.number().min(0)
/** Serialisable model metadata; identity, provider, wire model, endpoint and key have no place here. */
export const NativeConfig = z.strictObject({
  name: z.string().optional(),
  api: z.string().optional(),
  reasoning: z.boolean().optional(),
  thinkingLevelMap: z.record(z.string(), z.string().nullable()).optional(),
  input: z.array(z.enum(['text', 'image', 'document'])).optional(),
  cost: z
    .looseObject({
      input: price,
      output: price,
      cacheRead: price.optional(),
      cacheWrite: price.optional(),
    })
    .optional(),
  contextWindow: z.int().positive().optional(),
  maxTokens: z.int().positive().optional(),
  samplingParams: z.record(z.string(), z.json()).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  compat: z.record(z.string(), z.json()).optional(),
})
export type NativeConfig = z.infer<typeof NativeConfig>

const handle = Line.min(1).max(256)
const headers = z.record(z.string().min(1), z.string())
const endpoint = z.url({ protocol: /^https?$/ }).max(2048)

export const ModelCardCreate = z.strictObject({
  model_id: handle,
  provider: z.string().min(1).max(128),
  model: Line.min(1).max(256),
  display_name: z.string().min(1).max(256).nullish(),
  base_url: endpoint.nullish(),
  custom_headers: headers.nullish(),
  api_key: z.string().min(1),
  native_config: NativeConfig.nullish(),
})
export type ModelCardCreate = z.infer<typeof ModelCardCreate>

/** The same fields, all optional; the handle and the provider do not change. */
export const ModelCardUpdate = ModelCardCreate.partial()
export type ModelCardUpdate = z.infer<typeof ModelCardUpdate>

export type ProbeResult =
  | { ok: true }
  | { ok: false; message: string; status?: number }
  | { ok: null; reason: 'unsupported_provider' }

/** A card as replies show it: keys and header values never, but for a preview of the key. */
export type ModelCard = {
  id: string
  type: 'model_card'
  model_id: string
  provider: string
  model: string
  display_name: string | null
  base_url: string | null
  custom_headers: string[]
  api_key_preview: string
  native_config: NativeConfig | null
  created_at: string
  updated_at: string
}

export const ModelCardShown = z.looseObject({
  id: z.string(),
  type: z.literal('model_card'),
  model_id: z.string(),
  provider: z.string(),
  model: z.string(),
  api_key_preview: z.string(),
  probe: z.looseObject({ ok: z.boolean().nullable() }).optional(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export const ModelCardListQuery = ListQuery
