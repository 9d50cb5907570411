/** What a form of a model card holds. Secrets stand in it until they are sent, and nowhere else. */
import type { ModelCard, ModelCardCreateBody, ModelCardUpdateBody } from '../../lib/api/types.ts'
import { isSame } from '../../lib/changes.ts'
import type { JsonBody } from '../../lib/request/api-call.ts'
import { jsonOf } from '../../lib/request/api-call.ts'

export type CardDraft = {
  provider: string
  handle: string
  model: string
  name: string
  url: string
  region: string
  project: string
  resource: string
  /** SECRET: never shown. A key, or the JSON of a cloud's credentials. Empty: none was typed. */
  key: string
  /** SECRET: its values are never shown. Undefined: those that the card has stay. */
  headers: Record<string, string> | undefined
  config: JsonBody
}

/** Refusals of the service stand under these. */
export const draftFields = [
  'provider',
  'model_id',
  'model',
  'display_name',
  'base_url',
  'api_key',
  'cloud',
  'credentials',
  'custom_headers',
  'native_config',
]

export const newDraft: CardDraft = {
  provider: '',
  handle: '',
  model: '',
  name: '',
  url: '',
  region: '',
  project: '',
  resource: '',
  key: '',
  headers: {},
  config: {},
}

export const draftOf = (card: ModelCard): CardDraft => ({
  provider: card.provider,
  handle: card.model_id,
  model: card.model,
  name: card.display_name ?? '',
  url: card.base_url ?? '',
  region: card.cloud?.region ?? '',
  project: card.cloud?.project ?? '',
  resource: card.cloud?.resource ?? '',
  key: '',
  headers: undefined,
  config: jsonOf(card.native_config ?? {}),
})

/** What was written as YAML; the service refuses by name what it does not know. */
const configOf = (config: JsonBody): ModelCardCreateBody['native_config'] =>
  JSON.parse(JSON.stringify(config))

const hasKeys = (value: object | undefined): boolean => Object.keys(value ?? {}).length > 0

/** Where the model is, for the providers that are clouds. */
function cloudOf({ region, project, resource }: CardDraft): ModelCardCreateBody['cloud'] {
  const cloud = {
    ...(region !== '' && { region: region.trim() }),
    ...(project !== '' && { project: project.trim() }),
    ...(resource !== '' && { resource: resource.trim() }),
  }
  return hasKeys(cloud) ? cloud : null
}

/** JSON counts as credentials, such as a key file of a service account. The service refuses by name what is wrong. */
function secretOf(key: string): Pick<ModelCardUpdateBody, 'api_key' | 'credentials'> {
  if (key === '') return {}
  if (!key.trim().startsWith('{')) return { api_key: key }
  try {
    return { credentials: JSON.parse(key) }
  } catch {
    return { api_key: key }
  }
}

export const bodyOf = (draft: CardDraft): ModelCardCreateBody => ({
  model_id: draft.handle.trim(),
  provider: draft.provider.trim(),
  model: draft.model.trim(),
  ...(draft.name !== '' && { display_name: draft.name }),
  ...(draft.url !== '' && { base_url: draft.url.trim() }),
  ...(cloudOf(draft) && { cloud: cloudOf(draft) }),
  ...secretOf(draft.key),
  ...(hasKeys(draft.headers) && { custom_headers: draft.headers }),
  ...(hasKeys(draft.config) && { native_config: configOf(draft.config) }),
})

/** What the form changes: what is absent stays. */
export const updateOf = (before: CardDraft, draft: CardDraft): ModelCardUpdateBody => ({
  ...(draft.model !== before.model && { model: draft.model.trim() }),
  ...(draft.name !== before.name && { display_name: draft.name === '' ? null : draft.name }),
  ...(draft.url !== before.url && { base_url: draft.url === '' ? null : draft.url.trim() }),
  ...(!isSame(cloudOf(draft), cloudOf(before)) && { cloud: cloudOf(draft) }),
  ...secretOf(draft.key),
  ...(draft.headers && { custom_headers: draft.headers }),
  ...(!isSame(draft.config, before.config) && {
    native_config: hasKeys(draft.config) ? configOf(draft.config) : null,
  }),
})

/** The request as it is shown: a secret is `…` there. */
export function shownOf(body: ModelCardUpdateBody): JsonBody {
  const headers = Object.keys(body.custom_headers ?? {}).map((name) => [name, '…'] as const)
  return {
    ...jsonOf(body),
    ...(body.api_key !== undefined && { api_key: '…' }),
    ...(body.credentials && { credentials: '…' }),
    ...(body.custom_headers && { custom_headers: Object.fromEntries(headers) }),
  }
}
