/** Asks each provider with an operator's key for its list of models, which costs nothing, and each cloud a model. */
import type { Dispatcher } from 'undici'
import { sendRequest } from '../../ground/core/security/undici.ts'
import { listCatalogModels } from '@steward/model/catalog.ts'
import { probeModel } from '@steward/model/probe.ts'
import { asOperator } from '../../ground/core/security/dial.ts'
import type { ModelProvider } from '../../ground/config/model-providers.ts'
import { requestAuthority } from '../../resources/model-cards/clouds.ts'
import { providerOf, providerSpec } from '../../resources/model-cards/fallback.ts'
import type { Config } from '../../ground/config/config.ts'
import { serverProgram } from '../../ground/config/settings.ts'
import type { SetupCheck, SetupFinding } from './finding.ts'
import { failed, ok, describeCauses, warning } from './finding.ts'

const patienceMs = 10_000
/** The first request asks for a credential too. */
const providerMs = 30_000
/** A larger difference of clocks breaks certificates and tokens of providers. */
const clockMs = 60_000

type Keys = Config['fallbackKeys']
type Provider = {
  setting: string
  base: string
  path: string
  headers: (key: string) => Record<string, string>
}

const keys = serverProgram.settings.fallbackKeys

const providers: Record<keyof Keys, Provider> = {
  anthropic: {
    setting: keys.anthropic.apiKey.name,
    base: 'https://api.anthropic.com',
    path: '/v1/models',
    headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  },
  openai: {
    setting: keys.openai.apiKey.name,
    base: 'https://api.openai.com/v1',
    path: '/models',
    headers: (key) => ({ authorization: `Bearer ${key}` }),
  },
  google: {
    setting: keys.google.apiKey.name,
    base: 'https://generativelanguage.googleapis.com/v1beta',
    path: '/models',
    headers: (key) => ({ 'x-goog-api-key': key }),
  },
}

export function modelChecks(
  { fallbackKeys, offlineModel, modelProviders }: Config,
  agent: Dispatcher,
): SetupCheck[] {
  const checks = (Object.keys(providers) as (keyof Keys)[]).flatMap((name) => {
    const key = fallbackKeys[name]
    return key ? [() => ask(providers[name], key, agent)] : []
  })
  checks.push(...modelProviders.map((provider) => () => askProvider(provider)))
  if (checks.length > 0) return checks
  const none = 'models: no key of a provider is set; agents use the model cards of their workspaces'
  const about = offlineModel ? `${none}, or the built-in model \`offline\`` : none
  return [async () => ok(about)]
}

async function ask(
  { setting, base, path, headers }: Provider,
  { apiKey, baseUrl }: NonNullable<Keys[keyof Keys]>,
  dispatcher: Dispatcher,
): Promise<SetupFinding[]> {
  const url = `${(baseUrl ?? base).replace(/\/+$/, '')}${path}`
  const host = new URL(url).host
  try {
    const signal = AbortSignal.timeout(patienceMs)
    const answer = await sendRequest(url, { dispatcher, signal, headers: headers(apiKey) })
    await answer.body.dump()
    return [judge(setting, host, answer.statusCode), ...clockBeside(host, answer.headers['date'])]
  } catch (error) {
    const mending =
      'look at the network and DNS of this machine, and at the setting of the base URL'
    return [failed(`models: ${host} does not answer: ${describeCauses(error)}`, mending)]
  }
}

const providersSetting = serverProgram.settings.modelProviders.name

/** Asks a model of the provider for a few tokens. That costs less than a cent, and is the whole way of a turn. */
async function askProvider(provider: ModelProvider): Promise<SetupFinding[]> {
  const { name, models } = provider
  const catalog = (await listCatalogModels('anthropic')) ?? []
  const ids = [...models.filter((each) => !each.includes('*')), ...catalog.map(({ id }) => id)]
  const served = ids.filter((id) => providerOf([provider], id))
  const id = served.find((each) => each.includes('haiku')) ?? served[0]
  if (id === undefined)
    return [
      warning(
        `models: ${name} serves none of the models that are known here, so that it was not asked`,
        `try it with an agent, or write a whole name into its models in ${providersSetting}`,
      ),
    ]
  const spec = await providerSpec(provider, id)
  const mending = `look at ${name} in ${providersSetting}, and at what the cloud gives its identity the right to`
  if ('refused' in spec) return [failed(`models: ${name}: ${spec.refused}`, mending)]
  const { named: _named, ...asked } = spec
  const outcome = await asOperator(() =>
    probeModel(asked, { isWanted: true, timeoutMs: providerMs, authority: requestAuthority }),
  )
  const called = spec.cloud ? `${id}, there ${spec.cloud.model}` : id
  if (outcome.ok === true) return [ok(`models: ${name} answers as ${called}`)]
  return [failed(`models: ${name} does not answer as ${called}: ${outcome.message}`, mending)]
}

function judge(setting: string, host: string, status: number): SetupFinding {
  if (status === 200) return ok(`models: ${host} takes ${setting}`)
  if (status === 401 || status === 403)
    return failed(`models: ${host} refuses ${setting} (${status})`, `set ${setting} to a valid key`)
  const about = `models: ${host} answers ${status} when it is asked for its models`
  return warning(about, `try ${setting} with an agent, and look at its base URL if the agent fails`)
}

function clockBeside(host: string, date: string | string[] | undefined): SetupFinding[] {
  const theirs = Date.parse(String(date))
  if (Number.isNaN(theirs)) return []
  const seconds = Math.round(Math.abs(theirs - Date.now()) / 1_000)
  const about = `clock: ${seconds} s from the one of ${host}`
  const isNear = seconds * 1_000 < clockMs
  return [isNear ? ok(about) : failed(about, 'synchronise the clock, for instance by chrony')]
}
