import { z } from 'zod'
import { CardCredentials, CloudSettings, credentialTypes } from './model-clouds.ts'
import {
  CreatedAt,
  HeaderSecret,
  HeadersAdded,
  JsonValue,
  Line,
  ListQuery,
  UpdatedAt,
} from './primitives.ts'

const price = z.number().min(0).max(1_000_000).describe('US dollars for a million tokens.')
/** Metadata of a model as JSON. Identity, provider, wire model, endpoint and key are not part of this object. */
export const NativeConfig = z
  .strictObject({
    name: z.string().optional(),
    api: z
      .string()
      .optional()
      .describe('The wire that the model speaks, such as `openai-completions`.'),
    reasoning: z.boolean().optional().describe('Whether the model thinks.'),
    thinkingLevelMap: z
      .record(z.string(), z.string().nullable())
      .optional()
      .describe(
        'The word of the provider for each level of thinking; null: the model has no such level.',
      ),
    input: z
      .array(z.enum(['text', 'image', 'document']))
      .optional()
      .describe('What messages may hold.'),
    cost: z
      .looseObject({
        input: price,
        output: price,
        cacheRead: price.optional(),
        cacheWrite: price.optional(),
      })
      .optional()
      .describe('List prices: they count for usage, budgets and spend limits.'),
    contextWindow: z.int().positive().optional().describe('Tokens of one request at most.'),
    maxTokens: z.int().positive().optional().describe('Tokens of one answer at most.'),
    samplingParams: z
      .record(z.string(), JsonValue)
      .optional()
      .describe('Parameters of sampling, sent along with each request.'),
    headers: HeadersAdded.optional().describe(
      'Headers of each request; secrets belong into `custom_headers`.',
    ),
    exactBaseUrl: z
      .boolean()
      .optional()
      .describe(
        'True: `base_url` is taken as it is, and no version such as `/v1` is put behind it.',
      ),
    compat: z
      .record(z.string(), JsonValue)
      .optional()
      .describe('How the provider differs from the wire that its model speaks.'),
  })
  .meta({
    id: 'NativeConfig',
    description: 'What is known of the model, beside its catalog entry.',
  })
export type NativeConfig = z.infer<typeof NativeConfig>

const handle = Line.min(1).max(256)
const endpoint = z.url({ protocol: /^https?$/ }).max(2048)

export const ModelCardCreate = z
  .strictObject({
    model_id: handle.describe('The handle that agents name; it does not change.'),
    provider: z
      .string()
      .min(1)
      .max(128)
      .describe('Whose wire the model speaks; it does not change.'),
    model: Line.min(1).max(256).describe('The identifier of the model at the provider.'),
    display_name: z.string().min(1).max(256).nullish().describe('What people call the model.'),
    base_url: endpoint.nullish().describe("An address in place of the provider's own."),
    custom_headers: HeadersAdded.nullish().describe(
      'Headers of each request. No answer has their values.',
    ),
    api_key: z
      .union([HeaderSecret, z.literal('')])
      .nullish()
      .describe(
        "The provider's key. No answer contains it. May be left out for `oai-compatible` and `ant-compatible`, and with `credentials`.",
      ),
    cloud: CloudSettings.nullish().describe(
      'Where the model is, for the providers `bedrock`, `vertex` and `foundry`.',
    ),
    credentials: CardCredentials.nullish(),
    native_config: NativeConfig.nullish(),
  })
  .meta({
    id: 'ModelCardCreateParams',
    examples: [
      {
        model_id: 'local-model',
        provider: 'example',
        model: 'example-model',
        base_url: 'https://models.example.com/v1',
        api_key: 'example-key',
        native_config: { api: 'openai-completions' },
      },
    ],
  })
export type ModelCardCreate = z.infer<typeof ModelCardCreate>

/** The fields of a create, all optional. The handle and the provider never change. */
export const ModelCardUpdate = ModelCardCreate.partial().meta({
  id: 'ModelCardUpdateParams',
  examples: [{ display_name: 'Model of the house' }],
})
export type ModelCardUpdate = z.infer<typeof ModelCardUpdate>

/** `url`: the address that was asked. */
export type ProbeResult =
  | { ok: true; url: string }
  | { ok: false; url: string; message: string; status?: number }
  | { ok: null; reason: 'unsupported_provider'; message: string }

/** A card as replies show it, without key and header values. `api_key_preview` is a short preview of the key. */
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
  cloud: CloudSettings | null
  credentials_type: CardCredentials['type'] | null
  created_at: string
  updated_at: string
}

const Probe = z.looseObject({
  ok: z
    .boolean()
    .nullable()
    .describe(
      'True: the key works. False: the provider could not be asked. Null: the key was not tried.',
    ),
  url: z.string().optional().describe('The address that was asked.'),
  message: z.string().optional().describe('Why the key does not work, or was not tried.'),
})

export const ModelCardProbed = Probe.extend({ type: z.literal('model_card_probe') }).meta({
  id: 'ModelCardProbe',
  description: 'What came of asking the model of a card for a few tokens.',
})

export const ModelCardShown = z
  .looseObject({
    id: z.string(),
    type: z.literal('model_card'),
    model_id: z.string().describe('The handle that agents name.'),
    provider: z.string().describe('Whose wire the model speaks.'),
    model: z.string().describe('The identifier of the model at the provider.'),
    display_name: z.string().nullable().describe('What people call the model, or null.'),
    base_url: z.string().nullable().describe("The address of the model; null: the provider's own."),
    custom_headers: z.array(z.string()).describe('Names of the headers, without their values.'),
    api_key_preview: z.string().describe('Enough of the key to recognise it.'),
    native_config: NativeConfig.nullable(),
    cloud: CloudSettings.nullable().describe('Where in a cloud the model is, or null.'),
    credentials_type: z
      .enum(credentialTypes)
      .nullable()
      .describe('The kind of the credentials; null: the card has an `api_key`.'),
    probe: Probe.optional().describe('What came of trying the key, in the answer to a write.'),
    created_at: CreatedAt,
    updated_at: UpdatedAt,
  })
  .meta({ id: 'ModelCard', description: 'How a model is reached.' })
export const ModelCardListQuery = ListQuery
