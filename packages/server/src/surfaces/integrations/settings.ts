/** Settings of the integrations process: a part of the server's settings, under the same names. */
import { readSettings } from '@steward/base/settings/program.ts'
import type { SettingSources } from '@steward/base/settings/sources.ts'
import { noFiles } from '@steward/base/settings/sources.ts'
import type { ProcessVariables, SettingsValues } from '@steward/base/settings/setting.ts'
import { serverProgram } from '../../ground/config/settings.ts'

const { port, host, logLevel, trustedProxies, integrations, outgoing } = serverProgram.settings

export const integrationsProgram = {
  what: 'integrations process',
  settings: { port, host, logLevel, trustedProxies, integrations, outgoing },
  sharedFile: serverProgram.settings,
  prefixes: ['INTEGRATIONS_'],
}

type SettingValues = SettingsValues<typeof integrationsProgram.settings>

export type ProcessSettings = Omit<SettingValues, 'integrations'> & {
  /** Without a trailing slash. */
  serviceUrl: string
  /** SECRET: never logged. */
  internalSecret: string
  /**
   * Secrets by which the process checks deliveries. Deliveries of an app without a secret here are checked by the
   * service alone. SECRET: never logged.
   */
  signingSecrets: Readonly<Record<'github' | 'linear' | 'slack', string | undefined>>
}

/**
 * `environment`: the variables, and under their names what files give. Throws with all problems in one message.
 */
export function readProcessSettings(
  environment: ProcessVariables,
  sources: SettingSources = noFiles,
): ProcessSettings {
  const read = readSettings(integrationsProgram, environment, sources)
  const needed = [integrations.serviceUrl, integrations.internalSecret]
  const missing = needed.filter(({ name }) => !environment[name] && !sources.refused.has(name))
  const problems = [
    ...(read.ok ? [] : read.problems),
    ...missing.map(({ name, about }) => `${name} must be set: ${about}`),
  ]
  if (!read.ok || problems.length > 0) throw new Error(problems.join('; '))
  const { integrations: given, ...own } = read.values
  const { serviceUrl = '', internalSecret = '', github, linear, slack } = given
  return {
    ...own,
    serviceUrl: serviceUrl.replace(/\/+$/, ''),
    internalSecret,
    signingSecrets: {
      github: github.webhookSecret,
      linear: linear.webhookSecret,
      slack: slack.signingSecret,
    },
  }
}
