/** The root secret by the key service that the settings name. */
import type { Log } from '@steward/base/log.ts'
import { systemClock } from '@steward/base/time.ts'
import type { Config } from '../ground/config/config.ts'
import { serverProgram } from '../ground/config/settings.ts'
import { createDiallers } from './diallers.ts'
import { unwrapRootSecrets } from './root-secret/wrapped.ts'
import { openConfiguredKeyService } from './secret-managers.ts'

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} }
const setting = serverProgram.settings.rootSecretKeyService.name

/** Opens the service with the connections of the operator. */
export async function openKeyServiceOf(
  config: Pick<Config, 'rootSecretKeyService'> & Parameters<typeof createDiallers>[0],
) {
  const { rootSecretKeyService: settings } = config
  if (!settings) throw new Error(`${setting} names no key service`)
  createDiallers(config, { log: silent, clock: systemClock }, undefined)
  return openConfiguredKeyService(settings, systemClock)
}

type UnwrappedConfig = { ok: true; config: Config } | { ok: false; problem: string }

/** `problem`: what the key service says. Nothing takes the place of a secret that it does not unwrap. */
export async function unwrapConfig(
  config: Config,
  pauses?: readonly number[],
): Promise<UnwrappedConfig> {
  const service = await openKeyServiceOf(config)
  const unwrapped = await unwrapRootSecrets(service, config, pauses)
  if (unwrapped.ok) return { ok: true, config: { ...config, ...unwrapped.value } }
  return {
    ok: false,
    problem: `the key service of ${setting} does not unwrap the root secret: ${unwrapped.failure.words}`,
  }
}
