/** Asks each provider with an operator's key for its list of models, which costs nothing. */
import type { Dispatcher } from 'undici'
import { sendRequest } from '../../ground/core/security/undici.ts'
import type { Config } from '../../ground/config/config.ts'
import { serverProgram } from '../../ground/config/settings.ts'
import type { SetupCheck, SetupFinding } from './finding.ts'
import { failed, ok, describeCauses, warning } from './finding.ts'

const patienceMs = 10_000
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
  { fallbackKeys, offlineModel }: Config,
  agent: Dispatcher,
): SetupCheck[] {
  const checks = (Object.keys(providers) as (keyof Keys)[]).flatMap((name) => {
    const key = fallbackKeys[name]
    return key ? [() => ask(providers[name], key, agent)] : []
  })
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
