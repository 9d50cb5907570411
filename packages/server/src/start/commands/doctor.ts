/** `npm start -- doctor`: checks whether a server can work here, and tells how to mend each fault. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import { systemClock } from '@steward/base/time.ts'
import type { ProcessVariables } from '@steward/base/settings/setting.ts'
import type { Log } from '@steward/base/log.ts'
import type { Config } from '../../ground/config/config.ts'
import { serverProgram } from '../../ground/config/settings.ts'
import { openFilesLimit } from '../../ground/core/open-files.ts'
import { natsChannel } from '../../ground/bus/nats/channel.ts'
import { checkMail } from '../../tenants/people/mail.ts'
import { createDiallers } from '../diallers.ts'
import { startSandboxProvider } from '../sandboxes.ts'
import { openBlobs, createServerSeal } from '../storage.ts'
import { configuredManagers } from '../secret-managers.ts'
import { checkClock } from '../checks/clock.ts'
import { managerChecks } from '../checks/company-secrets.ts'
import { databaseCheck } from '../checks/database.ts'
import { diskChecks } from '../checks/disk.ts'
import type { SetupCheck, SetupFinding } from '../checks/finding.ts'
import { failed, ok, describeCauses, warning } from '../checks/finding.ts'
import { checkSettingsFile, proxyChecks } from '../checks/outgoing.ts'
import { identityProviderChecks } from '../checks/identity-providers.ts'
import { modelChecks } from '../checks/models.ts'

const silent: Log = { debug() {}, info() {}, warn() {}, error() {} }
/** Fewer open files are too few: a process with a thousand streams has two open files for each stream. */
const fewFiles = 4_096

/**
 * Changes nothing. Each finding is told when its check is over, in the order of the list. Returns false when a check
 * failed.
 */
export async function examineSetup(
  given: Config,
  environment: ProcessVariables,
  tell: (finding: SetupFinding) => void,
): Promise<boolean> {
  const { config, finding: rootSecret } = await unwrapForChecks(given)
  const { operator } = createDiallers(config, { log: silent, clock: systemClock }, undefined)
  const checks: SetupCheck[] = [
    async () => ok('settings: all can be read'),
    () => checkSettingsFile(environment),
    async () => checkClock(systemClock),
    ...(rootSecret ? [async () => rootSecret] : []),
    // What is sealed cannot be compared with a secret that is not there.
    ...(rootSecret?.state === 'failed' ? [] : [databaseCheck(config, createServerSeal(config))]),
    ...diskChecks(config),
    ...(config.blobs?.type === 's3' ? [() => bucket(config, operator.agent)] : []),
    ...(config.busUrl === undefined ? [] : [() => bus(config.busUrl ?? '')]),
    ...proxyChecks(config),
    () => mail(config),
    () => sandbox(config),
    ...modelChecks(config, operator.agent),
    ...identityProviderChecks(config),
    ...managerChecks(configuredManagers(config, systemClock)),
    () => address(config),
    async () => openFiles(),
  ]
  let isSound = true
  for (const check of checks)
    for (const finding of [await check()].flat()) {
      tell(finding)
      isSound &&= finding.state !== 'failed'
    }
  await operator.agent.close()
  return isSound
}

/** The settings with the root secret in the clear where the key service unwraps it, and what it says. */
async function unwrapForChecks(given: Config): Promise<{ config: Config; finding?: SetupFinding }> {
  if (!given.rootSecretKeyService) return { config: given }
  const { unwrapConfig } = await import('../key-service.ts')
  const unwrapped = await unwrapConfig(given, [])
  if (unwrapped.ok)
    return { config: unwrapped.config, finding: ok('root secret: the key service unwraps it') }
  const { name: service } = serverProgram.settings.rootSecretKeyService
  const mending = `look at ${service}, and at what lets this machine use its key`
  return { config: given, finding: failed(`root secret: ${unwrapped.problem}`, mending) }
}

async function bucket(
  config: Config,
  agent: Parameters<typeof openBlobs>[1],
): Promise<SetupFinding> {
  try {
    await openBlobs(config, agent)
    return ok('bucket: it can be listed')
  } catch (error) {
    return failed(
      `bucket: ${describeCauses(error)}`,
      'look at STORE_BACKENDS and at the rights of its key',
    )
  }
}

async function bus(url: string): Promise<SetupFinding> {
  try {
    await (await natsChannel({ url, log: silent })).close()
    return ok('bus: NATS answers')
  } catch (error) {
    return failed(
      `bus: no connection: ${describeCauses(error)}`,
      'look at BUS_URL and whether NATS runs',
    )
  }
}

const mailMs = 10_000

async function mail({ mail: { smtpUrl } }: Config): Promise<SetupFinding> {
  if (smtpUrl === undefined)
    return ok('mail: no mail server is set; codes and links for people are written to the log')
  try {
    await checkMail(smtpUrl, mailMs)
    return ok('mail: the mail server answers')
  } catch (error) {
    const setting = serverProgram.settings.mail.smtpUrl.name
    return failed(
      `mail: ${describeCauses(error)}`,
      `look at ${setting}: host, port, name and password`,
    )
  }
}

const mendingMark = '. To mend it: '

/** Starts one sandbox. The findings are those of a server's start. */
async function sandbox(config: Config): Promise<SetupFinding[]> {
  if (config.sandbox === 'none')
    return [ok('sandboxes: this server starts none; its sessions need workers')]
  const findings: SetupFinding[] = []
  const split = (text: string) => {
    const [about = '', mending = ''] = text.split(mendingMark)
    return [`sandboxes: ${about}`, mending || 'docs/sandboxes.md says what sandboxes need'] as const
  }
  let isolation = ''
  try {
    const provider = await startSandboxProvider(config, {
      ...silent,
      info: (_, { provider: _name, ...fields } = {}) => {
        isolation = Object.entries(fields)
          .map((field) => field.join(' '))
          .join(', ')
      },
      warn: (text) => void findings.push(warning(...split(text))),
    })
    return [ok(`sandboxes: one of ${provider.name} starts (${isolation})`), ...findings]
  } catch (error) {
    return [...findings, failed(...split(describeCauses(error)))]
  }
}

async function address({ host, port }: Config): Promise<SetupFinding> {
  const server = createServer().listen(port, host)
  try {
    await once(server, 'listening')
    return ok(`address: ${host}:${port} is free`)
  } catch (error) {
    const about = `address: ${host}:${port} cannot be listened on: ${describeCauses(error)}`
    return warning(about, 'set HOST and PORT to a free address, unless this server runs there')
  } finally {
    server.close()
  }
}

function openFiles(): SetupFinding {
  const most = openFilesLimit()
  const about = `open files: at most ${most}`
  return most >= fewFiles
    ? ok(about)
    : warning(
        about,
        `raise the limit: \`ulimit -n 65536\`, or LimitNOFILE=65536 in the systemd unit`,
      )
}
