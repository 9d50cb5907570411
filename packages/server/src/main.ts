/** The command line: starts the server, or does what an operator asks for once. */
import { isBuilt, serverCommand } from '@steward/base/own-command.ts'
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { jsonLog } from '@steward/base/log.ts'
import { resolveOwnFilesByName } from '@steward/base/own-imports.ts'
import { nearestName } from '@steward/base/nearest-name.ts'
import { logUnhandledFailures } from '@steward/base/unhandled-failures.ts'
import { settingsHelp } from '@steward/base/settings/program.ts'
import { serverProgram } from './ground/config/settings.ts'
import type * as Operator from './start/commands/operator.ts'
import {
  configurationAmongOwnUsers,
  exitWithLines,
  parseProblem,
  refuseCommand,
} from './start/commands/command-line.ts'
import {
  administrationCommand,
  administrationNames,
  administrationUsage,
} from './start/commands/commands.ts'
import { deploymentCommand, deploymentNames, deploymentUsage } from './start/commands/deployment.ts'

/**
 * For a start without `NODE_COMPILE_CACHE`. Attack: Node's own folder is below /tmp, where another account could put
 * code of its own.
 */
enableCompileCache(
  join(import.meta.dirname, '../../..', isBuilt ? '.cache' : 'node_modules/.cache/compiled'),
)
resolveOwnFilesByName()

const usage = asCalled(`Steward: a self-hosted, multi-tenant service for running AI agents.

  npm start                                start the server
  npm start -- try                         start a server of a trial in the background, with secrets of its own in ./data,
                                           and let an agent work once; try stop: end it
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
  npm start -- accept-blobs                take the store of files that STORE_BACKENDS names as the one of this database,
                                           with all servers stopped, where the files of another one are given up
  npm start -- recount-quotas <workspace>  count anew what a workspace stores and holds, from its rows
  npm start -- move-databases --to <tenants or one>
                                           give each workspace a database of its own, or put all into one again;
                                           with all servers stopped. Stopped itself, it goes on when it is run again
  npm start -- migrate --all               bring the databases of all workspaces up to date before their first use
  npm start -- upgrade --check             say what the next start of this version would change in the database, and how
                                           long that takes on a copy; changes nothing · --on-copy: a copy in Postgres
  npm start -- backup-workspace <workspace> --to <file>
                                           write all rows of a workspace to a file, beside running servers;
                                           --with-key: with the key of its secrets, so that they open when the workspace was deleted
  npm start -- restore-workspace <file>    put a workspace back as the file has it, with all servers stopped
  npm start -- export-person <email or id> print what is held about a person as lines of JSON
  npm start -- audit verify                say whether a line of the audit was changed or removed, as lines of JSON;
                                           --workspace: of this alone, or deployment · --against: an earlier output
  npm start -- audit export                print the audit as lines of JSON, of the deployment or of a --workspace;
                                           --from, --to: times · --trail: credential_uses, credential_changes or secret_reads
  npm start -- rotate-root-secret          seal everything anew under PLATFORM_ROOT_SECRET
  npm start -- wrap-root-secret            print what takes the place of PLATFORM_ROOT_SECRET where a key service unwraps it
  npm start -- integrations                take deliveries apart from the server: see docs/integrations.md
${deploymentUsage()}
  npm start -- config check                say what is wrong with the settings, and where each problem is;
                                           show: each setting, without secrets, and where its value comes from; --json: as JSON
                                           schema, example: the JSON Schema of a settings file, and one with every setting
  npm start -- doctor                      say whether the server could do its work here, and what to do where not;
                                           changes nothing
  npm start -- ready                       say whether the server of these settings is ready on this machine;
                                           ends with 1 where it is not, as health checks ask
  npm start -- version                     print the version and the commit; --version does the same
  npm start -- help                        this text; --help does the same

Settings, by variables or by the file that SETTINGS_FILE names; NAME_FILE names a file with the secret NAME (docs/settings.md):
${settingsHelp(serverProgram)}

docs/workspaces.md explains workspaces, keys and commands, docs/sandboxes.md sandboxes.
`)

/** The texts of commands as this program is called, in the same columns. */
function asCalled(text: string): string {
  if (!isBuilt) return text
  return text.replaceAll(
    /^ {2}npm start(?: --)?(.*?)( {2,}|$)/gm,
    (line, words: string, gap: string) => {
      const called = `  steward${words || ' start'}`
      return gap === '' ? called : called.padEnd(line.length)
    },
  )
}

/** The usage of one command; the whole text where it is none, and for `help`. */
function usageOf(command = 'help'): string {
  if (command === 'help' || !/^[a-z-]+$/.test(command)) return usage
  const own = usage.match(new RegExp(`^  npm start -- ${command}(?: .*)?$(?:\\n {3}.*)*`, 'gm'))
  return own
    ? `${own.join('\n')}\n\n${serverCommand} help lists all commands and settings.\n`
    : usage
}

async function serve(): Promise<void> {
  const config = await configurationAmongOwnUsers()
  const log = jsonLog((line) => process.stderr.write(line), config.logLevel)
  logUnhandledFailures(log)
  const { startService } = await import('./start/start.ts')
  const running = await startService(config, log)
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
  // Who reads this line may send a signal at once.
  log.info('listening', { url: `http://${config.host}:${running.port}` })
  // A process that is killed keeps nothing at its end.
  flushCompileCache()
}

/** Each option belongs to one command. */
function checkOptions(command: string | undefined, owners: Record<string, object>): void {
  for (const [owner, given] of Object.entries(owners)) {
    const [option] = Object.keys(given)
    if (option && command !== owner) refuseCommand(`--${option} belongs to ${owner}`)
  }
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
  'export-person': 1,
  audit: 1,
  try: 1,
}

function checkWords(command: string, words: readonly string[]): void {
  const most = mostWords[command] ?? 0
  if (words.length > most)
    refuseCommand(`${command} takes ${most} words at most: put a name with a space in quotes`)
}

function commandOf<Command>(commands: Record<string, Command>, command: string): Command {
  const found = Object.hasOwn(commands, command) ? commands[command] : undefined
  if (found !== undefined) return found
  const near = nearestName(command, [
    ...Object.keys(commands),
    ...administrationNames,
    ...deploymentNames,
    'config',
    'start',
    'help',
  ])
  return refuseCommand(`${command} is not a command.${near ? ` Do you mean ${near}?` : ''}`)
}

async function runTrial(words: readonly string[]): Promise<void> {
  const [word] = words
  if (word !== undefined && word !== 'stop') refuseCommand('try takes nothing, or stop')
  const { stopTrial, tryOut } = await import('./start/commands/trial.ts')
  await (word === 'stop' ? stopTrial(process.env) : tryOut(process.env))
}

async function printVersion(): Promise<void> {
  const { readVersion, versionLine } = await import('./start/version.ts')
  process.stdout.write(`${versionLine(readVersion())}\n`)
}

/** The options that were given. */
const given = <Option>(options: Record<string, Option | undefined>): object =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))

const asksToServe = (command: string, rest: string[]) => command === 'start' && rest.length === 0
const asksForHelp = (words: string[]) => words.length === 1 && words[0] === 'help'

const options = {
  version: { type: 'boolean' },
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
  check: { type: 'boolean' },
  'on-copy': { type: 'string' },
} as const

/** Runs a command that reads its options itself; false for every other one. */
async function runWithOwnOptions(args: readonly string[]): Promise<boolean> {
  const [command, ...words] = args
  const asked = administrationCommand(args)
  const deploy = deploymentCommand(args, process.env)
  if (asked) {
    const { runAdministration } = await import('./start/commands/operator.ts')
    await runAdministration(command ?? '', asked)
    return true
  }
  if (deploy) {
    await deploy()
    return true
  }
  if (command !== 'config' || words.some((word) => ['-h', '--help'].includes(word))) return false
  const { configCommand } = await import('./start/commands/config.ts')
  await configCommand(words, process.env)
  return true
}

async function main(): Promise<void> {
  const args = process.argv.slice(2)
  if (await runWithOwnOptions(args)) return
  const { values, positionals } = parseArgs({
    options,
    allowPositionals: true,
  })
  const { help, version, role, email, to, all, admin, name, ...others } = values
  const { 'with-key': isWithKey, check, 'on-copy': copy, ...ofAudit } = others
  const ofUpgrade = given({ check, 'on-copy': copy })
  const ofBackups = { ...(isWithKey && { 'with-key': true }) }
  const ofKeys = { ...(admin && { admin }), ...(name !== undefined && { name }) }
  const ofInvitations = { ...(role && { role }), ...(email && { email }) }
  if (help || asksForHelp(positionals)) {
    process.stdout.write(usageOf(positionals[0]))
    return
  }
  const [command = 'start', ...rest] = version ? ['version'] : positionals
  checkOptions(command, {
    'create-key': ofKeys,
    'create-invitation': ofInvitations,
    migrate: given({ all }),
    upgrade: ofUpgrade,
    audit: ofAudit,
    [takesTo(command)]: to ? { to } : {},
  })
  checkOptions(command, { 'backup-workspace': ofBackups })
  if (asksToServe(command, rest)) return serve()
  const [first] = rest
  const commands: Record<string, (operator: typeof Operator) => Promise<void>> = {
    'create-workspace': (operator) => operator.createWorkspaceCommand(first),
    'create-key': (operator) => operator.createKeyCommand(first, ofKeys),
    'create-invitation': (operator) => operator.createInvitationCommand(first, ofInvitations),
    'accept-blobs': (operator) => operator.acceptBlobsCommand(),
    'set-limit': (operator) => operator.setLimitCommand(rest),
    'set-spend-limit': (operator) => operator.setSpendLimitCommand(rest),
    'recount-quotas': (operator) => operator.recountCommand(first),
    'move-databases': (operator) => operator.moveCommand(to),
    migrate: (operator) => operator.migrateCommand(all === true),
    upgrade: (operator) => operator.upgradeCommand(check === true, copy),
    'backup-workspace': (operator) =>
      operator.backUpCommand(first, { ...(to && { to }), ...ofBackups }),
    'restore-workspace': (operator) => operator.restoreCommand(first),
    'export-person': (operator) => operator.exportPersonCommand(first),
    'rotate-root-secret': (operator) => operator.rotateRootSecretCommand(),
    'wrap-root-secret': (operator) => operator.wrapRootSecretCommand(process.env),
    audit: (operator) => operator.auditCommand(first, { ...ofAudit, to }),
    integrations: async () =>
      (await import('./start/commands/integrations.ts')).serveIntegrations(process.env),
    start: serve,
    try: () => runTrial(rest),
    doctor: (operator) => operator.runDoctor(process.env),
    ready: async () => (await import('./start/commands/readiness.ts')).readyCommand(),
    version: printVersion,
  }
  const run = commandOf(commands, command)
  checkWords(command, rest)
  await run(await import('./start/commands/operator.ts'))
}

main().catch((error: unknown) => {
  const { message, cause, code } = error as NodeJS.ErrnoException
  if (code?.startsWith('ERR_PARSE_ARGS')) return refuseCommand(parseProblem(error as Error))
  const isServer = process.argv.length === 2
  exitWithLines([
    isServer ? `Steward stopped: ${message}` : `steward: ${message}`,
    ...(cause instanceof Error ? [`  because ${cause.message}`] : []),
  ])
})
