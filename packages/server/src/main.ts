/** The command line: starts the server, or does what an operator asks for once. */
import { enableCompileCache } from 'node:module'
import { parseArgs } from 'node:util'
import type { Config } from './ground/config/config.ts'
import { readConfig } from './ground/config/config.ts'
import { jsonLog } from '@steward/base/log.ts'
import { settingsHelp } from '@steward/base/settings/program.ts'
import { serverProgram } from './ground/config/settings.ts'
import type { AdministrationDeps } from './start/administration.ts'
import type { CommandLine } from './start/commands.ts'
import { administrationCommand, administrationUsage } from './start/commands.ts'
import { roles } from './ground/http/principal.ts'
import { baseUrl } from './ground/config/base-url.ts'
import type { AuditOptions } from './start/audit.ts'
import type * as Invite from './tenants/members/operator.ts'
import type * as Create from './tenants/workspaces/create.ts'

enableCompileCache()

const usage = `Steward: a self-hosted, multi-tenant service for running AI agents.

  npm start                                start the server
  npm start -- create-workspace <name>     make a workspace and print its first key, once
${administrationUsage()}
  npm start -- create-key <workspace>      print a new key of a workspace, named by its id or name, once;
                                           --admin: a workspace-admin key · --name: how the key is listed
  npm start -- create-invitation <workspace>
                                           print a link by which a person joins a workspace, once;
                                           --role: viewer, member, admin or owner (the default) · --email: for this address alone
  npm start -- set-limit <workspace> <limit> <value>
                                           allow a workspace other limits than the server's, such as writes 120/m;
                                           the value default: those of the server again
  npm start -- set-spend-limit <workspace> <daily|monthly> <cents>
                                           let a workspace spend so many US cents in each day or month (UTC);
                                           default in place of the cents: no limit of the operator
  npm start -- recount-quotas <workspace>  count anew what a workspace stores and holds, from its rows
  npm start -- move-databases --to <tenants or one>
                                           give each workspace a database of its own, or put all into one again;
                                           with all servers stopped. Stopped itself, it goes on when it is run again
  npm start -- migrate --all               bring the databases of all workspaces up to date before their first use
  npm start -- backup-workspace <workspace> --to <file>
                                           write all rows of a workspace to a file, beside running servers;
                                           --with-key: with the key of its secrets, so that they open when the workspace was deleted
  npm start -- restore-workspace <file>    put a workspace back as the file has it, with all servers stopped
  npm start -- audit verify                say whether a line of the audit was changed or removed, as lines of JSON;
                                           --workspace: of this alone, or deployment · --against: an earlier output
  npm start -- audit export                print the audit as lines of JSON, of the deployment or of a --workspace;
                                           --from, --to: times · --trail: credential_uses or credential_changes
  npm start -- rotate-root-secret          seal everything anew under PLATFORM_ROOT_SECRET
  npm start -- integrations                take deliveries apart from the server: see docs/integrations.md
  npm start -- doctor                      say whether the server could do its work here, and what to do where not;
                                           changes nothing
  npm start -- help                        this text; --help does the same

Settings, from the environment:
${settingsHelp(serverProgram)}

docs/workspaces.md explains workspaces, keys and commands, docs/sandboxes.md sandboxes.
`

function fail(lines: string[]): never {
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(1)
}

function configuration(): Config {
  const read = readConfig(process.env)
  if (read.ok) return read.config
  return fail(['Steward does not start:', ...read.problems.map((problem) => `  ${problem}`)])
}

/** For what starts sandboxes. */
async function configurationAmongOwnUsers(): Promise<Config> {
  const config = configuration()
  if (config.sandbox === 'bubblewrap' && config.sandboxUsers !== 'shared') {
    const { enterOwnUsers } = await import('@steward/sandbox/own-users.ts')
    enterOwnUsers()
  }
  return config
}

async function serve(): Promise<void> {
  const config = await configurationAmongOwnUsers()
  const log = jsonLog((line) => process.stderr.write(line), config.logLevel)
  const { start } = await import('./start/start.ts')
  const running = await start(config, log)
  log.info('listening', { url: `http://${config.host}:${running.port}` })
  let stopping = false
  const stop = (signal: string) => {
    if (stopping) process.exit(1)
    stopping = true
    log.info('stopping', { signal })
    running.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log.error('the server did not stop cleanly', { error })
        process.exit(1)
      },
    )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

type Rooms = typeof Create & typeof Invite

/** Beside running servers. */
async function makeInWorkspaces(
  command: string,
  make: (rooms: Rooms, deps: AdministrationDeps, config: Config) => Promise<object>,
): Promise<void> {
  const config = configuration()
  const { databasesBeside } = await import('./start/beside.ts')
  const { byOperator } = await import('./start/audit.ts')
  const { systemClock } = await import('@steward/base/time.ts')
  const rooms: Rooms = {
    ...(await import('./tenants/workspaces/create.ts')),
    ...(await import('./tenants/members/operator.ts')),
  }
  const beside = await databasesBeside(config)
  try {
    const made = await byOperator(beside.databases, command, (databases) =>
      make(rooms, { databases, clock: systemClock, github: config.integrations.github }, config),
    )
    process.stdout.write(`${JSON.stringify(made, null, 2)}\n`)
  } finally {
    await beside.close()
  }
}

async function createWorkspaceCommand(name: string | undefined): Promise<void> {
  if (!name) fail(['create-workspace needs a name'])
  await makeInWorkspaces('create-workspace', ({ createWorkspace }, deps) =>
    createWorkspace(deps, name),
  )
}

async function createKeyCommand(
  workspace: string | undefined,
  { admin = false, name = 'made by the operator' }: { admin?: boolean; name?: string },
): Promise<void> {
  if (!workspace) fail(['create-key needs a workspace: its id or its name'])
  if (name.length < 1 || name.length > 256) fail(['--name must have 1 to 256 characters'])
  await makeInWorkspaces('create-key', ({ createKey }, deps) =>
    createKey(deps, workspace, { admin, name }),
  )
}

async function createInvitationCommand(
  workspace: string | undefined,
  { role = 'owner', email }: { role?: string; email?: string },
): Promise<void> {
  if (!workspace) fail(['create-invitation needs a workspace: its id or its name'])
  const wanted = roles.find((each) => each === role)
  if (!wanted) fail([`--role must be one of ${roles.join(', ')}`])
  await makeInWorkspaces('create-invitation', ({ inviteByOperator }, deps, config) =>
    inviteByOperator(deps, { workspace, role: wanted, email, base: baseUrl(config, config.port) }),
  )
}

async function setLimitCommand([workspace, name, value]: string[]): Promise<void> {
  if (!workspace || !name || !value)
    fail([
      'set-limit needs a workspace, a limit and its value, such as: set-limit acme writes 120/m',
    ])
  const { isQuota, setLimit } = await import('./tenants/limits/set.ts')
  await changeLimits(isQuota(name) ? 'set-quota' : 'set-rate-limit', (deps) =>
    setLimit(deps, { workspace, name, value }),
  )
}

/** Running servers are told. `audited`: the command by the noun that it changes. */
async function changeLimits(
  audited: string,
  change: (deps: Parameters<typeof Create.createKey>[0]) => Promise<{ workspace: string }>,
): Promise<void> {
  const { announceLimits } = await import('./start/limit-changes.ts')
  await makeInWorkspaces(audited, async (_, deps, config) => {
    const set = await change(deps)
    await announceLimits(config, set.workspace)
    return set
  })
}

async function setSpendLimitCommand([workspace, period, amount]: string[]): Promise<void> {
  if (!workspace || !period || !amount)
    fail([
      'set-spend-limit needs a workspace, daily or monthly, and US cents, such as: set-spend-limit acme monthly 50000',
    ])
  const { setSpendLimit } = await import('./tenants/limits/set.ts')
  await changeLimits('set-spend-limit', (deps) =>
    setSpendLimit(deps, { workspace, period, amount }),
  )
}

async function recountCommand(workspace: string | undefined): Promise<void> {
  if (!workspace) fail(['recount-quotas needs a workspace: its id or its name'])
  const { recountQuotas } = await import('./tenants/limits/set.ts')
  await makeInWorkspaces('recount-quotas', (_, deps) => recountQuotas(deps, workspace))
}

/** Beside running servers; run again it goes on where it was. */
async function rotateRootSecretCommand(): Promise<void> {
  const config = configuration()
  const { sealOf } = await import('./start/storage.ts')
  const { databasesBeside } = await import('./start/beside.ts')
  const { checkRootKey } = await import('./ground/database/root-key.ts')
  const { rotateRootSecret } = await import('./start/root-secret/rotate.ts')
  const beside = await databasesBeside(config)
  const { control } = beside.databases
  try {
    const seal = sealOf(config)
    await checkRootKey(control, seal)
    const report = (progress: { column: string; done: number }) =>
      say(`${progress.column}: ${progress.done} sealed anew`)
    const rows = await rotateRootSecret(control, seal, report, () => beside.holders())
    const { byOperator, signAudit } = await import('./start/audit.ts')
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

/** Beside running servers. A verification exits with 1 where a chain is damaged. */
async function auditCommand(verb: string | undefined, options: AuditOptions): Promise<void> {
  const { exportAudit, verifyAudit } = await import('./start/audit.ts')
  if (verb === 'export') return exportAudit(configuration(), options, process.stdout)
  if (verb !== 'verify') fail(['audit needs a verb: verify or export'])
  if (!(await verifyAudit(configuration(), options, process.stdout))) process.exitCode = 1
}

const say = (line: string) => process.stdout.write(`${line}\n`)

async function moveCommand(to: string | undefined): Promise<void> {
  if (to !== 'tenants' && to !== 'one') fail(['--to must be tenants or one'])
  const { moveWorkspaces } = await import('./start/workspace-copies.ts')
  const isMoved = await moveWorkspaces(configuration(), to, say)
  const setting = `PER_TENANT_DB_ENABLED=${to === 'tenants'}`
  say(isMoved ? `done: start the server with ${setting}` : `nothing to do: ${setting} suits`)
}

async function backUpCommand(
  workspace: string | undefined,
  { to: path, 'with-key': isWithKey }: { to?: string; 'with-key'?: boolean },
): Promise<void> {
  if (!workspace || !path) fail(['backup-workspace needs a workspace, and --to with a file'])
  const { backUpWorkspace } = await import('./start/workspace-copies.ts')
  const made = await backUpWorkspace(configuration(), workspace, { path, isWithKey })
  say(`${made.rows} rows of ${made.workspace} are in ${path}; copy the blobs now, after the rows`)
}

async function restoreCommand(path: string | undefined): Promise<void> {
  if (!path) fail(['restore-workspace needs a file that backup-workspace has written'])
  const { restoreWorkspaceFrom } = await import('./start/workspace-copies.ts')
  const restored = await restoreWorkspaceFrom(configuration(), path)
  say(`${restored.rows} rows of ${restored.workspace} are as ${path} has them`)
  if (!restored.opens)
    say(
      'its secrets cannot be opened: the key of the workspace was forgotten when it was deleted, and the file was made without --with-key. Give keys of model cards, credentials of vaults and tokens anew, and rotate the secrets of webhooks',
    )
}

async function migrateCommand(isAll: boolean): Promise<void> {
  if (!isAll) fail(['migrate needs --all'])
  const { migrateAll } = await import('./start/workspace-copies.ts')
  const failed = await migrateAll(configuration(), say)
  if (failed > 0) fail([`${failed} database(s) could not be brought up to date`])
}

const marks = { ok: '✓', warning: '!', failed: '✗' }

/** Beside running servers. Exits with 1 where something failed. */
async function doctor(): Promise<void> {
  const config = await configurationAmongOwnUsers()
  const { examine } = await import('./start/doctor.ts')
  const isSound = await examine(config, (finding) => {
    process.stdout.write(`${marks[finding.state]} ${finding.about}\n`)
    if (finding.state !== 'ok') process.stdout.write(`    to mend it: ${finding.mending}\n`)
  })
  process.exit(isSound ? 0 : 1)
}

/** Each option belongs to one command. */
function checkOptions(command: string | undefined, owners: Record<string, object>): void {
  for (const [owner, given] of Object.entries(owners)) {
    const [option] = Object.keys(given)
    if (option && command !== owner) fail([`--${option} belongs to ${owner}`])
  }
}

async function administrate(command: string, asked: CommandLine): Promise<void> {
  if ('wrong' in asked) fail([asked.wrong])
  if ('help' in asked) return void process.stdout.write(asked.help)
  const administration = await import('./start/administration.ts')
  await makeInWorkspaces(command, (_, deps) => asked.run(administration, deps))
}

/** The command that `--to` belongs to: this one, where it takes it. */
const takesTo = (command = ''): string =>
  command === 'backup-workspace' || command === 'audit' ? command : 'move-databases'

/** Words behind a command; none where it is not named here. */
const mostWords: Record<string, number> = {
  'create-workspace': 1,
  'create-key': 1,
  'create-invitation': 1,
  'set-limit': 3,
  'set-spend-limit': 3,
  'recount-quotas': 1,
  'backup-workspace': 1,
  'restore-workspace': 1,
  audit: 1,
}

function checkWords(command: string, words: readonly string[]): void {
  const most = mostWords[command] ?? 0
  if (words.length > most)
    fail([`${command} takes ${most} words at most: put a name with a space in quotes`])
}

const asksForHelp = (words: string[]) => words.length === 1 && words[0] === 'help'

async function main(): Promise<void> {
  const args = process.argv.slice(2)
  const asked = administrationCommand(args)
  if (asked) return administrate(args[0] ?? '', asked)
  const { values, positionals } = parseArgs({
    options: {
      help: { type: 'boolean', short: 'h' },
      admin: { type: 'boolean' },
      name: { type: 'string' },
      role: { type: 'string' },
      email: { type: 'string' },
      to: { type: 'string' },
      all: { type: 'boolean' },
      'with-key': { type: 'boolean' },
      workspace: { type: 'string' },
      from: { type: 'string' },
      trail: { type: 'string' },
      against: { type: 'string' },
    },
    allowPositionals: true,
  })
  const { help, role, email, to, all, admin, name, 'with-key': isWithKey, ...ofAudit } = values
  const ofBackups = { ...(isWithKey && { 'with-key': true }) }
  const ofKeys = { ...(admin && { admin }), ...(name !== undefined && { name }) }
  const ofInvitations = { ...(role && { role }), ...(email && { email }) }
  if (help || asksForHelp(positionals)) {
    process.stdout.write(usage)
    return
  }
  const [command, ...rest] = positionals
  checkOptions(command, {
    'create-key': ofKeys,
    'create-invitation': ofInvitations,
    migrate: all ? { all } : {},
    audit: ofAudit,
    [takesTo(command)]: to ? { to } : {},
  })
  checkOptions(command, { 'backup-workspace': ofBackups })
  if (command === undefined) return serve()
  const [first] = rest
  const commands: Record<string, () => Promise<void>> = {
    'create-workspace': () => createWorkspaceCommand(first),
    'create-key': () => createKeyCommand(first, ofKeys),
    'create-invitation': () => createInvitationCommand(first, ofInvitations),
    'set-limit': () => setLimitCommand(rest),
    'set-spend-limit': () => setSpendLimitCommand(rest),
    'recount-quotas': () => recountCommand(first),
    'move-databases': () => moveCommand(to),
    migrate: () => migrateCommand(all ?? false),
    'backup-workspace': () => backUpCommand(first, { ...(to && { to }), ...ofBackups }),
    'restore-workspace': () => restoreCommand(first),
    'rotate-root-secret': rotateRootSecretCommand,
    audit: () => auditCommand(first, { ...ofAudit, to }),
    integrations: async () =>
      (await import('./start/integrations.ts')).serveIntegrations(process.env),
    doctor,
  }
  const run = Object.hasOwn(commands, command) ? commands[command] : undefined
  if (!run) fail([`${command} is not a command`, usage])
  checkWords(command, rest)
  await run()
}

main().catch((error: unknown) => {
  const { message, cause } = error as Error
  fail([
    `Steward stopped: ${message}`,
    ...(cause instanceof Error ? [`  because ${cause.message}`] : []),
  ])
})
