/** The entry points of the operator's commands. Each command loads its modules when it runs. */
import type { ProcessVariables } from '@steward/base/settings/setting.ts'
import { baseUrl } from '../../ground/config/base-url.ts'
import type { Config } from '../../ground/config/config.ts'
import { roles } from '../../ground/core/security/roles.ts'
import type * as Invite from '../../tenants/members/operator-invitations.ts'
import type * as Create from '../../tenants/workspaces/create.ts'
import type { AdministrationDeps } from './administration.ts'
import type { AuditOptions } from './audit.ts'
import {
  readConfigOrExit,
  settingsAmongOwnUsers,
  exitWithLines,
  refuseCommand,
  printLine,
} from './command-line.ts'
import type { CommandLine } from './commands.ts'

type Rooms = typeof Create & typeof Invite

async function dialAsServer(config: Config): Promise<void> {
  const { createDiallers } = await import('../diallers.ts')
  const { systemClock } = await import('@steward/base/time.ts')
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  createDiallers(config, { log, clock: systemClock }, undefined)
}

/** Works beside running servers. */
async function makeInWorkspaces(
  command: string,
  make: (rooms: Rooms, deps: AdministrationDeps, config: Config) => Promise<object>,
): Promise<void> {
  const config = await readConfigOrExit()
  const { databasesBeside } = await import('./beside.ts')
  const { byOperator } = await import('./audit.ts')
  const { systemClock } = await import('@steward/base/time.ts')
  const rooms: Rooms = {
    ...(await import('../../tenants/workspaces/create.ts')),
    ...(await import('../../tenants/members/operator-invitations.ts')),
  }
  const beside = await databasesBeside(config)
  try {
    const made = await byOperator(beside.databases, command, (databases) =>
      make(
        rooms,
        {
          databases,
          clock: systemClock,
          github: config.integrations.github,
          dialAsServer: () => dialAsServer(config),
        },
        config,
      ),
    )
    process.stdout.write(`${JSON.stringify(made, null, 2)}\n`)
  } finally {
    await beside.close()
  }
}

export async function createWorkspaceCommand(name: string | undefined): Promise<void> {
  if (!name) refuseCommand('create-workspace needs a name')
  await makeInWorkspaces('create-workspace', async ({ checkNewName, createWorkspace }, deps) => {
    await checkNewName(deps.databases.control.read, name)
    return createWorkspace(deps, name)
  })
}

export async function createKeyCommand(
  workspace: string | undefined,
  { admin = false, name = 'made by the operator' }: { admin?: boolean; name?: string },
): Promise<void> {
  if (!workspace) refuseCommand('create-key needs a workspace: its id or its name')
  if (name.length < 1 || name.length > 256) refuseCommand('--name must have 1 to 256 characters')
  await makeInWorkspaces('create-key', ({ createKey }, deps) =>
    createKey(deps, workspace, { admin, name }),
  )
}

export async function createInvitationCommand(
  workspace: string | undefined,
  { role = 'owner', email }: { role?: string; email?: string },
): Promise<void> {
  if (!workspace) refuseCommand('create-invitation needs a workspace: its id or its name')
  const wanted = roles.find((each) => each === role)
  if (!wanted) refuseCommand(`--role must be one of ${roles.join(', ')}`)
  await makeInWorkspaces('create-invitation', ({ inviteByOperator }, deps, config) =>
    inviteByOperator(deps, { workspace, role: wanted, email, base: baseUrl(config, config.port) }),
  )
}

export async function setLimitCommand([workspace, name, value]: string[]): Promise<void> {
  if (!workspace || !name || !value)
    refuseCommand(
      'set-limit needs a workspace, a limit and its value, such as: set-limit acme writes 120/m',
    )
  const { isQuota, setLimit } = await import('../../tenants/limits/operator-limits.ts')
  await changeLimits(isQuota(name) ? 'set-quota' : 'set-rate-limit', (deps) =>
    setLimit(deps, { workspace, name, value }),
  )
}

/** Notifies running servers. `audited`: the name of the command for the audit. */
async function changeLimits(
  audited: string,
  change: (deps: Parameters<typeof Create.createKey>[0]) => Promise<{ workspace: string }>,
): Promise<void> {
  const { announceLimits } = await import('../limit-changes.ts')
  await makeInWorkspaces(audited, async (_, deps, config) => {
    const set = await change(deps)
    await announceLimits(config, set.workspace)
    return set
  })
}

export async function setSpendLimitCommand([workspace, period, amount]: string[]): Promise<void> {
  if (!workspace || !period || !amount)
    refuseCommand(
      'set-spend-limit needs a workspace, daily or monthly, and US cents, such as: set-spend-limit acme monthly 50000',
    )
  const { setSpendLimit } = await import('../../tenants/limits/operator-limits.ts')
  await changeLimits('set-spend-limit', (deps) =>
    setSpendLimit(deps, { workspace, period, amount }),
  )
}

export async function recountCommand(workspace: string | undefined): Promise<void> {
  if (!workspace) refuseCommand('recount-quotas needs a workspace: its id or its name')
  const { recountQuotas } = await import('../../tenants/limits/operator-limits.ts')
  await makeInWorkspaces('recount-quotas', (_, deps) => recountQuotas(deps, workspace))
}

export async function acceptBlobsCommand(): Promise<void> {
  const config = await readConfigOrExit()
  const { acceptBlobs } = await import('./accept-blobs.ts')
  await acceptBlobs(config)
  printLine('done: servers of this database start with this store of files, and with no other one')
}

/** Works beside running servers. Run again after a stop, the command continues where it stopped. */
export async function rotateRootSecretCommand(): Promise<void> {
  const config = await readConfigOrExit()
  const { createServerSeal } = await import('../storage.ts')
  const { databasesBeside } = await import('./beside.ts')
  const { rotateRootSecret } = await import('../root-secret/rotate.ts')
  const beside = await databasesBeside(config)
  const { control } = beside.databases
  try {
    const seal = createServerSeal(config)
    const report = (progress: { column: string; done: number }) =>
      printLine(`${progress.column}: ${progress.done} sealed anew`)
    const rows = await rotateRootSecret(control, seal, report, () => beside.holders())
    const { byOperator, signAudit } = await import('./audit.ts')
    await signAudit(config, beside)
    await byOperator(beside.databases, 'rotate-root-secret', (databases) =>
      databases.control.write(async () => {}),
    )
    process.stdout.write(
      `${rows} rows sealed anew; everything is sealed under root key ${seal.keyId} now, and PLATFORM_ROOT_SECRET_PREVIOUS can go\n`,
    )
  } finally {
    await beside.close()
  }
}

/** Prints the text that takes the place of the root secret in the settings. Changes nothing. */
export async function wrapRootSecretCommand(environment: ProcessVariables): Promise<void> {
  const { wrapConfigured } = await import('./wrap-root-secret.ts')
  const wrapped = await wrapConfigured(environment)
  if (!wrapped.ok) exitWithLines([`steward: ${wrapped.problem}`])
  printLine(wrapped.text)
}

/** Works beside running servers. A verification exits with 1 when a chain is damaged. */
export async function auditCommand(verb: string | undefined, options: AuditOptions): Promise<void> {
  const { exportAudit, verifyAudit } = await import('./audit.ts')
  if (verb === 'export') return exportAudit(await readConfigOrExit(), options, process.stdout)
  if (verb !== 'verify') refuseCommand('audit needs a verb: verify or export')
  if (!(await verifyAudit(await readConfigOrExit(), options, process.stdout))) process.exitCode = 1
}

/** Prints what is held about a person, as lines of JSON. Works beside running servers. */
export async function exportPersonCommand(named: string | undefined): Promise<void> {
  if (!named) refuseCommand('export-person needs the email or the id of a person')
  const { exportPersonTo } = await import('./export-person.ts')
  await exportPersonTo(await readConfigOrExit(), named, process.stdout)
}

export async function moveCommand(to: string | undefined): Promise<void> {
  if (to !== 'tenants' && to !== 'one') refuseCommand('--to must be tenants or one')
  const { moveWorkspaces } = await import('./move-workspaces.ts')
  const isMoved = await moveWorkspaces(await readConfigOrExit(), to, printLine)
  const setting = `PER_TENANT_DB_ENABLED=${to === 'tenants'}`
  printLine(isMoved ? `done: start the server with ${setting}` : `nothing to do: ${setting} suits`)
}

export async function backUpCommand(
  workspace: string | undefined,
  { to: path, 'with-key': isWithKey }: { to?: string; 'with-key'?: boolean },
): Promise<void> {
  if (!workspace || !path) refuseCommand('backup-workspace needs a workspace, and --to with a file')
  const { backUpWorkspace } = await import('./workspace-copies.ts')
  const made = await backUpWorkspace(await readConfigOrExit(), workspace, { path, isWithKey })
  printLine(
    `${made.rows} rows of ${made.workspace} are in ${path}; copy the blobs now, after the rows`,
  )
}

export async function restoreCommand(path: string | undefined): Promise<void> {
  if (!path) refuseCommand('restore-workspace needs a file that backup-workspace has written')
  const { restoreWorkspaceFrom } = await import('./workspace-copies.ts')
  const restored = await restoreWorkspaceFrom(await readConfigOrExit(), path)
  printLine(`${restored.rows} rows of ${restored.workspace} are as ${path} has them`)
  if (!restored.opens)
    printLine(
      'its secrets cannot be opened: the key of the workspace was forgotten when it was deleted, and the file was made without --with-key. Give keys of model cards, credentials of vaults and tokens anew, and rotate the secrets of webhooks',
    )
}

export async function migrateCommand(isAll: boolean): Promise<void> {
  if (!isAll) refuseCommand('migrate needs --all')
  const { migrateAll } = await import('./move-workspaces.ts')
  const failed = await migrateAll(await readConfigOrExit(), printLine)
  if (failed > 0) exitWithLines([`${failed} database(s) could not be brought up to date`])
}

export async function upgradeCommand(isCheck: boolean, copy: string | undefined): Promise<void> {
  if (!isCheck)
    refuseCommand('upgrade needs --check: a start of a newer version upgrades by itself')
  const { checkUpgrade } = await import('./upgrade.ts')
  if (!(await checkUpgrade(await readConfigOrExit(), copy, printLine)))
    exitWithLines(['this version does not start on this database as it is'])
}

const marks = { ok: '✓', warning: '!', failed: '✗' }

/** Works beside running servers. Exits with 1 when a check failed. */
export async function runDoctor(environment: ProcessVariables): Promise<void> {
  const config = await settingsAmongOwnUsers()
  const { examineSetup } = await import('./doctor.ts')
  const isSound = await examineSetup(config, environment, (finding) => {
    process.stdout.write(`${marks[finding.state]} ${finding.about}\n`)
    if (finding.state !== 'ok') process.stdout.write(`    to mend it: ${finding.mending}\n`)
  })
  process.exit(isSound ? 0 : 1)
}

export async function runAdministration(command: string, asked: CommandLine): Promise<void> {
  if ('wrong' in asked) exitWithLines([`steward: ${asked.wrong}`], 2)
  if ('help' in asked) return void process.stdout.write(asked.help)
  const administration = await import('./administration.ts')
  await makeInWorkspaces(command, (_, deps) => asked.run(administration, deps))
}
