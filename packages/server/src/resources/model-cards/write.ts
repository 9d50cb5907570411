/** Checks, probes and seals a card that a caller sends. [model-cards/create] */
import { noUsage } from '@steward/model/model.ts'
import type { Usage } from '@steward/model/model.ts'
import type { Price, PriceTable } from '@steward/model/price.ts'
import { probeModel } from '@steward/model/probe.ts'
import type { ModelSpec } from '@steward/model/spec.ts'
import { refuseModel } from '@steward/model/spec.ts'
import type {
  ModelCardCreate,
  ModelCardUpdate,
  ProbeResult,
} from '@steward/protocol/model-cards.ts'
import type { CardCredentials } from '@steward/protocol/model-clouds.ts'
import { invalid } from '../../ground/core/errors.ts'
import type { Seal } from '../../ground/core/security/seal.ts'
import { previewToken } from '../../ground/core/security/token.ts'
import type { NewDestination } from '../../ground/core/security/secret-destination.ts'
import type { CardRow } from './store.ts'
import type { CardFacts } from '../../ground/database/tables/model-cards.ts'
import { findPrice } from './prices.ts'
import type { IdentityWorkspaces } from './clouds.ts'
import {
  accessWith,
  credentialPreview,
  openCredentials,
  refuseCloudCard,
  refuseIdentity,
  requestAuthority,
  secretOf,
} from './clouds.ts'
import { headersContext, keyContext, openHeaders } from './store.ts'
import type { CardTarget } from './target.ts'
import { targetOfCard } from './target.ts'

const probeMs = 6_000

/** A card in the clear, while it is checked. `credentials`: take the place of the key. */
export type CardInput = Omit<ModelCardCreate, 'custom_headers' | 'api_key' | 'credentials'> & {
  /** SECRET: never logged. */
  api_key: string
  /** SECRET: never logged. */
  credentials: CardCredentials | null
  /** SECRET: never logged. */
  custom_headers: Record<string, string>
}

/** Stands for the key of a server that asks for none. Clients of the wires refuse to send no key. */
const noKey = 'none'

/** The key of a new card. Servers that speak another's wire may ask for none. */
export function requireApiKey({ provider, api_key, credentials }: ModelCardCreate): string {
  if (api_key && credentials) throw invalid('api_key: goes not with credentials; give one of them')
  if (api_key) return api_key
  if (credentials) return noKey
  if (provider.endsWith('-compatible')) return noKey
  throw invalid(
    'api_key: is required; only oai-compatible and ant-compatible do without one, and clouds with credentials',
  )
}

/** Applies an update to the stored card. Handle and provider stay. */
export function updateCard(kept: CardRow, update: ModelCardUpdate, seal: Seal): CardInput {
  const facts = kept.card
  for (const [name, before] of [
    ['model_id', kept.model_id],
    ['provider', facts.provider],
  ] as const) {
    if (update[name] !== undefined && update[name] !== before)
      throw invalid(`${name}: cannot change; make another card`)
  }
  const headers = openHeaders(kept, seal) ?? {}
  return {
    cloud: update.cloud === undefined ? facts.cloud : update.cloud,
    model_id: kept.model_id,
    provider: facts.provider,
    model: update.model ?? kept.model,
    display_name: update.display_name === undefined ? facts.display_name : update.display_name,
    base_url: update.base_url === undefined ? facts.base_url : update.base_url,
    native_config: update.native_config === undefined ? facts.native_config : update.native_config,
    custom_headers: update.custom_headers === undefined ? headers : (update.custom_headers ?? {}),
    ...secretOfUpdate(kept, update, seal),
  }
}

/** A new key takes the place of credentials, and credentials that of a key. */
function secretOfUpdate(
  kept: CardRow,
  update: ModelCardUpdate,
  seal: Seal,
): Pick<CardInput, 'api_key' | 'credentials'> {
  const { api_key, credentials } = update
  if (api_key && credentials) throw invalid('api_key: goes not with credentials; give one of them')
  if (api_key) return { api_key, credentials: null }
  if (credentials) return { api_key: noKey, credentials }
  return openSecret(kept, seal)
}

/**
 * True when an update would send the stored key and headers to another endpoint. Several fields can cause that: a
 * provider's default endpoint can depend on the model.
 */
export async function newDestinations(
  kept: CardRow,
  update: ModelCardUpdate,
): Promise<NewDestination[]> {
  const facts = kept.card
  const before = await endpointOf({ ...facts, model: kept.model })
  const after = await endpointOf({
    provider: facts.provider,
    model: update.model ?? kept.model,
    base_url: update.base_url === undefined ? facts.base_url : update.base_url,
    native_config: update.native_config === undefined ? facts.native_config : update.native_config,
    cloud: update.cloud === undefined ? facts.cloud : update.cloud,
  })
  if (after === undefined || after === before) return []
  const secrets = [
    ...(update.api_key === undefined && !update.credentials ? ['api_key'] : []),
    ...(kept.sealed_headers !== null && update.custom_headers === undefined
      ? ['custom_headers']
      : []),
  ]
  const fields = ['base_url', 'model', 'native_config', 'cloud'] as const
  const field = fields.find((each) => update[each] !== undefined) ?? 'base_url'
  return secrets.length > 0 ? [{ field, secrets }] : []
}

/** The endpoint of a card's model; undefined when no call could be made. */
async function endpointOf(at: CardTarget): Promise<string | undefined> {
  const target = await targetOfCard(at)
  return 'refused' in target ? undefined : new URL(target.base_url).href.replace(/\/+$/, '')
}

export type CloudRights = { cloudIdentityWorkspaces: IdentityWorkspaces }

/** The key or the credentials of a stored card. */
export function openSecret(
  { tenant_id, id, sealed_key, card }: CardRow,
  seal: Pick<Seal, 'open'>,
): Pick<CardInput, 'api_key' | 'credentials'> {
  const secret = seal.open(sealed_key, keyContext(tenant_id, id))
  const credentials = openCredentials(card.credentials_type, secret)
  return credentials ? { api_key: noKey, credentials } : { api_key: secret, credentials: null }
}

export type ProbedCard = {
  result: ProbeResult
  usage: Usage
  /** Null: the model has no price. */
  price: Price | null
}

/**
 * Asks the endpoint for a few tokens, for at most six seconds. A refused key is the caller's error, and nothing is
 * stored. An unreachable endpoint is reported, and the card is stored. `isWanted`: the caller asked for the probe, so
 * that each wire is asked, and a refused key is the answer.
 */
export async function probeCard(
  card: CardInput,
  { prices, cloudIdentityWorkspaces }: { prices: PriceTable } & CloudRights,
  { tenant, signal, isWanted = false }: { tenant: string; signal: AbortSignal; isWanted?: boolean },
): Promise<ProbedCard> {
  const { username, password } = new URL(card.base_url ?? 'http://none')
  // base_url is shown wherever the card is shown.
  if (username || password)
    throw invalid('base_url: may hold no credentials; they belong in api_key or custom_headers')
  const spec = await specOfInput(card, tenant, cloudIdentityWorkspaces)
  let used = noUsage
  const onUsage = (usage: Usage) => void (used = usage)
  const authority = requestAuthority
  const asked = { signal, timeoutMs: probeMs, onUsage, isWanted, authority }
  const result = await probeModel(spec, asked)
  if (!isWanted && result.ok === false && (result.status === 401 || result.status === 403)) {
    const field = card.credentials ? 'credentials' : 'api_key'
    throw invalid(`${field}: the provider refused it: ${result.message}`)
  }
  return { result, usage: used, price: findPrice(spec, card.native_config?.cost, prices) }
}

/** Throws 400 for a card that cannot be used. */
async function specOfInput(
  card: CardInput,
  tenant: string,
  allowed: IdentityWorkspaces,
): Promise<ModelSpec> {
  const { credentials, api_key, custom_headers: headers } = card
  const unfit = refuseCloudCard(card) ?? refuseIdentity(credentials?.type, tenant, allowed)
  if (unfit !== undefined) throw invalid(unfit)
  const target = await targetOfCard(card)
  if ('refused' in target) throw invalid(target.refused)
  const access = target.cloud && accessWith(target.cloud, credentials, tenant)
  const spec = { ...target, api_key, headers, ...(access && { cloud: access }) }
  const unusable = refuseModel(spec)
  if (unusable) throw invalid(unusable)
  return spec
}

/** The row of a card. `kept`: id and creation time. */
export function buildCardRow(
  kept: Pick<CardRow, 'tenant_id' | 'id' | 'created_at'>,
  card: CardInput,
  seal: Seal,
  updated_at: string,
): CardRow {
  const { tenant_id, id } = kept
  const names = Object.keys(card.custom_headers)
  const facts: CardFacts = {
    provider: card.provider,
    display_name: card.display_name ?? null,
    base_url: card.base_url ?? null,
    header_names: names,
    native_config: card.native_config ?? null,
    cloud: card.cloud ?? null,
    credentials_type: card.credentials?.type ?? null,
  }
  const secret = secretOf(card)
  return {
    ...kept,
    model_id: card.model_id,
    model: card.model,
    card: facts,
    sealed_key: seal.seal(secret, keyContext(tenant_id, id)),
    sealed_headers:
      names.length > 0
        ? seal.seal(JSON.stringify(card.custom_headers), headersContext(tenant_id, id))
        : null,
    api_key_preview: card.credentials
      ? credentialPreview(card.credentials)
      : previewToken(card.api_key),
    updated_at,
  }
}
