/** Reads the configuration from what is given for the settings, or the problems of all wrong settings. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { serverCommand } from '@steward/base/own-command.ts'
import { gatherSettings } from '@steward/base/settings/gather.ts'
import { readSettings } from '@steward/base/settings/program.ts'
import type { SettingSources } from '@steward/base/settings/sources.ts'
import { locationBefore, noFiles } from '@steward/base/settings/sources.ts'
import type { ProcessVariables, SettingsValues } from '@steward/base/settings/setting.ts'
import { buildIdentityProviders } from './identity-providers.ts'
import { openFilesLimit } from '../core/open-files.ts'
import { usualPostgresLimits } from '../core/postgres-client.ts'
import type { PriceTable } from '@steward/model/price.ts'
import { readPrices } from './prices.ts'
import { serverProgram } from './settings.ts'
import { wrappedRootSecret } from './wrapped-root-secret.ts'

type ServerValues = SettingsValues<typeof serverProgram.settings>

export type Config = ReturnType<typeof configOf>
/**
 * `idle`: at the end of each turn that may have changed the working folder, and like `stop`: when the sandbox stops.
 */
export type CheckpointSaving = Config['checkpoints']['saving']
export type WorkerInput = Config['workerInputs'][number]

/** A fallback key: a key, a base URL whose server needs no key, or both. */
const fallbackOf = ({ apiKey, baseUrl }: ServerValues['fallbackKeys']['openai']) =>
  apiKey || baseUrl ? { apiKey: apiKey ?? 'none', baseUrl } : undefined

function hintOf({ url, secret }: ServerValues['webhooks']['hint']) {
  return url && secret ? { url, secret } : undefined
}

/** Adds the values that depend on the machine, on a file, or on several settings. */
function configOf(
  { stores, egressConnections, modelPrices: _path, ...given }: ServerValues,
  prices: PriceTable,
) {
  const {
    databaseLimits,
    checkpoints,
    fallbackKeys,
    shares,
    webhooks,
    companyProviders = [],
  } = given
  const openFiles = openFilesLimit()
  const streams = shares.streams ?? Math.min(Math.floor(openFiles / 2), 50_000)
  return {
    ...given,
    prices,
    sandboxDir: given.sandboxDir ?? `${given.dataDir}/sandboxes`,
    databaseLimits: {
      ...databaseLimits,
      heartbeatMs: Math.min(usualPostgresLimits.heartbeatMs, databaseLimits.statementMs),
    },
    /** Undefined: a folder below `dataDir`. */
    blobs: stores?.blobs,
    /** True when the server publishes the outputs of sessions. */
    publishes: stores?.outputs ?? true,
    checkpoints: {
      ...checkpoints,
      saving: checkpoints.saving ?? (given.databaseUrl ? 'idle' : 'stop'),
    },
    /** Shares of tenants in a process: the number of slots, and the percentage of them that one tenant may hold. */
    shares: {
      ...shares,
      streams,
      connections: egressConnections ?? Math.min(Math.floor(openFiles / 8), 16_384),
    },
    /** Connections of callers: the streams, and an eighth of the files for all else. The others stay free. */
    callerConnections: streams + Math.min(Math.floor(openFiles / 8), 16_384),
    companyProviders,
    identityProviders: buildIdentityProviders(given.identityProviders, companyProviders),
    webhooks: { ...webhooks, hint: hintOf(webhooks.hint) },
    modelProviders: given.modelProviders ?? [],
    fallbackKeys: {
      anthropic: fallbackOf(fallbackKeys.anthropic),
      openai: fallbackOf(fallbackKeys.openai),
      google: fallbackOf(fallbackKeys.google),
    },
  }
}

/** The problem of a missing root secret, where `./try` has kept one. */
function keptSecretProblem(environment: ProcessVariables): string | undefined {
  const { rootSecret, dataDir } = serverProgram.settings
  if (environment[rootSecret.name]) return undefined
  const kept = join(environment[dataDir.name] || (dataDir.default ?? ''), 'root-secret')
  return existsSync(kept)
    ? `${rootSecret.name} is missing, and ./try has kept one in ${kept}. Use it: export ${rootSecret.name}=$(cat ${kept})`
    : undefined
}

/** Problems of identity providers whose settings are incomplete. */
function providerProblems(environment: ProcessVariables): string[] {
  const { identityProviders, publicUrl } = serverProgram.settings
  return Object.values(identityProviders).flatMap((provider) => {
    const names = Object.values(provider).map(({ name }) => name)
    const needed = [...names.filter((name) => !name.endsWith('_NAME')), publicUrl.name]
    if (!names.some((name) => environment[name])) return []
    const missing = needed.filter((name) => !environment[name])
    return missing.length === 0
      ? []
      : [`${provider.clientId.name} needs ${missing.join(', ')}: people sign in by all of them`]
  })
}

/** Problems of integration apps that lack a setting without a default. */
function appProblems(environment: ProcessVariables): string[] {
  const { github, linear, slack } = serverProgram.settings.integrations
  return [github, linear, slack].flatMap(({ url, apiUrl, ...own }) => {
    const settings = Object.values(own)
    const given = [...settings, url, apiUrl].flatMap(({ name }) => (environment[name] ? name : []))
    const missing = settings.flatMap(({ name, defaultAbout }) =>
      environment[name] || defaultAbout !== undefined ? [] : name,
    )
    return given.length === 0 || missing.length === 0
      ? []
      : [`${given[0]} needs ${missing.join(', ')}: the app works by all of them`]
  })
}

/** Problems of a hint with only one of URL and secret. */
function hintProblems(environment: ProcessVariables): string[] {
  const { url, secret } = serverProgram.settings.webhooks.hint
  return Boolean(environment[url.name]) === Boolean(environment[secret.name])
    ? []
    : [
        `${url.name} and ${secret.name} go together: set both or none, because the server sends no unsigned hint`,
      ]
}

/** A root secret and its key service go together: nothing falls back to a secret in the clear. */
function keyServiceProblems(environment: ProcessVariables): string[] {
  const { rootSecret, previousRootSecret, rootSecretKeyService } = serverProgram.settings
  const isWrapped = ({ name }: { name: string }) =>
    wrappedRootSecret.read(environment[name] ?? '') !== undefined
  const secret = rootSecret.name
  const service = rootSecretKeyService.name
  if (!environment[service])
    return [rootSecret, previousRootSecret]
      .filter(isWrapped)
      .map(({ name }) => `${name} is wrapped by a key service: name the service by ${service}`)
  return environment[secret] && !isWrapped(rootSecret)
    ? [
        `${secret} holds the secret itself, and ${service} is set: run \`${serverCommand} wrap-root-secret\`, and put what it prints in place of the secret`,
      ]
    : []
}

/** Problems of a `BUS_URL` without a Postgres. */
function busProblems(environment: ProcessVariables): string[] {
  const { busUrl, databaseUrl } = serverProgram.settings
  return environment[busUrl.name] && !environment[databaseUrl.name]
    ? [
        `${busUrl.name} needs ${databaseUrl.name}: with SQLite there is one process, and nobody else to send to`,
      ]
    : []
}

/** Problems of a sign-in at providers that lacks a provider, or the URL to which they send the browser back. */
function signInProblems(environment: ProcessVariables): string[] {
  const { identityProviders, companyProviders, publicUrl, signInOnly } = serverProgram.settings
  const read = companyProviders.read(environment)
  const company = read.ok ? (read.value ?? []) : []
  const ofCompany = company.some(({ client }) => client !== undefined)
  const isAny =
    ofCompany || Object.values(identityProviders).some(({ clientId }) => environment[clientId.name])
  return [
    ...(ofCompany && !environment[publicUrl.name]
      ? [
          `${companyProviders.name} needs ${publicUrl.name}: providers send people back to it, who sign in there`,
        ]
      : []),
    ...(environment[signInOnly.name] && !isAny
      ? [`${signInOnly.name} needs an identity provider: nobody could sign in`]
      : []),
  ]
}

/** Problems of a stream of the audit, or of records, to a collector that nobody named. */
function collectorProblems(environment: ProcessVariables): string[] {
  const { otlp, auditStream } = serverProgram.settings
  const needs = [
    {
      by: auditStream.name,
      isAsked: environment[auditStream.name] === 'otlp',
      own: otlp.logsEndpoint,
    },
    {
      by: otlp.logsExporter.name,
      isAsked: environment[otlp.logsExporter.name] === 'otlp',
      own: otlp.logsEndpoint,
    },
    {
      by: otlp.metricsExporter.name,
      isAsked: environment[otlp.metricsExporter.name] === 'otlp',
      own: otlp.metricsEndpoint,
    },
  ]
  return needs.flatMap(({ by, isAsked, own }) =>
    !isAsked || environment[otlp.endpoint.name] || environment[own.name]
      ? []
      : [`${by}: otlp needs ${otlp.endpoint.name}, the address of the collector`],
  )
}

/** Problems of settings that need others. */
const dependencyProblems = (environment: ProcessVariables): string[] => [
  ...signInProblems(environment),
  ...hintProblems(environment),
  ...busProblems(environment),
  ...keyServiceProblems(environment),
  ...collectorProblems(environment),
  ...providerProblems(environment),
  ...appProblems(environment),
]

type ConfigReading = { ok: true; config: Config } | { ok: false; problems: string[] }

/** Reads the variables, and the files that they name. */
export async function readGivenConfig(environment: ProcessVariables): Promise<ConfigReading> {
  const { variables, ...sources } = await gatherSettings(serverProgram, environment)
  return readConfig(variables, sources)
}

/** `environment`: the variables, and under their names what files give. */
export function readConfig(
  environment: ProcessVariables,
  sources: SettingSources = noFiles,
): ConfigReading {
  const read = readSettings(serverProgram, environment, sources)
  const { name } = serverProgram.settings.modelPrices
  const prices = readPrices(environment[name] || undefined)
  const kept = keptSecretProblem(environment)
  const missing = `${serverProgram.settings.rootSecret.name} is missing:`
  const unread = read.ok ? [] : read.problems
  const problems = [
    ...('problem' in prices ? [`${locationBefore(sources, name)}${name}: ${prices.problem}`] : []),
    ...unread.map((problem) => (kept && problem.startsWith(missing) ? kept : problem)),
    // A value that cannot be read may be the one that another setting needs.
    ...(sources.refused.size > 0 ? [] : dependencyProblems(environment)),
  ]
  return read.ok && problems.length === 0 && !('problem' in prices)
    ? { ok: true, config: configOf(read.values, prices) }
    : { ok: false, problems }
}
