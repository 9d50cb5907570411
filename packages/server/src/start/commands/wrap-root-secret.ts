/** `npm start -- wrap-root-secret`: what a key service makes of the root secret, for the settings. */
import type { ProcessVariables } from '@steward/base/settings/setting.ts'
import { gatherSettings } from '@steward/base/settings/gather.ts'
import { trustAuthorities } from '../../ground/core/security/authorities.ts'
import { readConfig } from '../../ground/config/config.ts'
import { serverProgram } from '../../ground/config/settings.ts'
import { wrappedRootSecret } from '../../ground/config/wrapped-root-secret.ts'
import { openKeyServiceOf } from '../key-service.ts'
import { wrapRootSecret } from '../root-secret/wrapped.ts'

type WrapResult = { ok: true; text: string } | { ok: false; problem: string }

/** The secret of the settings is still the secret itself, so that the server would refuse these settings. */
export async function wrapConfigured(environment: ProcessVariables): Promise<WrapResult> {
  const { rootSecret, rootSecretKeyService } = serverProgram.settings
  const { variables, ...sources } = await gatherSettings(serverProgram, environment)
  const secret = variables[rootSecret.name]
  const service = rootSecretKeyService.name
  if (!secret) return { ok: false, problem: `${rootSecret.name} is missing: it is what is wrapped` }
  if (!variables[service])
    return { ok: false, problem: `${service} is missing: it names the service that wraps` }
  if (wrappedRootSecret.read(secret) !== undefined)
    return { ok: false, problem: `${rootSecret.name} is wrapped already: give the secret itself` }
  const stand = {
    ...variables,
    [rootSecret.name]: wrappedRootSecret.write('stands for the secret'),
  }
  const read = readConfig(stand, sources)
  if (!read.ok) return { ok: false, problem: read.problems.join('; ') }
  trustAuthorities(read.config.outgoing.authorities)
  const wrapped = await wrapRootSecret(await openKeyServiceOf(read.config), secret)
  return wrapped.ok
    ? wrapped
    : { ok: false, problem: `the key service of ${service} does not wrap: ${wrapped.words}` }
}
