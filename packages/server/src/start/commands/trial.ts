/**
 * `steward try`: a server with secrets of its own, which runs in the background, and one turn of an agent. Running it
 * again uses the server that runs; `try stop` ends it.
 */
import { spawn, spawnSync } from 'node:child_process'
import { closeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isBuilt } from '@steward/base/own-command.ts'
import { gatherSettings } from '@steward/base/settings/gather.ts'
import { exitWithLines, printLine, say } from './command-line.ts'
import { fetchByProxies } from './proxied-fetch.ts'
import { runFirstTurn } from './first-turn.ts'
import { hostToOpen, readReadiness } from './readiness.ts'
import {
  findProcess,
  findServer,
  forgetServer,
  keepSecret,
  lockTrialFolder,
  makeTrialFolder,
  openTrialLog,
  recordServer,
} from './trial-folder.ts'
import { serverProgram } from '../../ground/config/settings.ts'

const command = isBuilt ? 'steward try' : './try'
const stopWith = (text: string): never => exitWithLines([`steward: ${text}`])

type Variables = Readonly<Record<string, string | undefined>>
type Trial = {
  folder: string
  port: string
  base: string
  /** The variables of its server. */
  env: Record<string, string | undefined>
  /** What is given for the settings, by variables and files. SECRET: never logged. */
  variables: Variables
  /** SECRET: never logged. */
  apiKey: string
}

const { settings } = serverProgram
/** The value of a setting as it is given, before the server reads it. */
const given = (variables: Variables, { name }: { name: string }, otherwise = ''): string =>
  variables[name] || otherwise

/** The ports of Ollama and LM Studio, for model cards of this trial. */
const localModels = '127.0.0.1:11434,[::1]:11434,127.0.0.1:1234,[::1]:1234'

const folderOf = (variables: Variables): string =>
  resolve(given(variables, settings.dataDir, 'data'))

/** What is given for the settings, by variables and files. Ends this process when a file cannot be used. */
async function gatherOrStop(environment: Variables): Promise<Variables> {
  const { variables, problems } = await gatherSettings(serverProgram, environment)
  if (problems.length > 0)
    exitWithLines(['steward: The settings cannot be read:', ...problems.map((each) => `  ${each}`)])
  return variables
}

/** `environment`: the variables of this process. The server reads the files that they name by itself. */
async function prepareTrial(environment: Variables): Promise<Trial> {
  const variables = await gatherOrStop(environment)
  const folder = folderOf(variables)
  const port = given(variables, settings.port, '8787')
  const host = given(variables, settings.host, '127.0.0.1')
  makeTrialFolder(folder)
  lockTrialFolder(folder)
  const isIsolated = given(variables, settings.sandbox) !== 'local'
  const needsEffort = !isIsolated && given(variables, settings.egressProfile) === ''
  const { sandbox, egressProfile, rootSecret, apiKey } = settings
  if (needsEffort)
    say(
      `${sandbox.name}=local isolates nothing; ${egressProfile.name}=best_effort, which it needs, is set for this trial.`,
    )
  /** A variable would win over the settings file. */
  const unlessGiven = (setting: { name: string }, value: () => string) =>
    given(variables, setting) === '' ? { [setting.name]: value() } : {}
  const env = {
    // Its folder can be removed by who made it: files of sandboxes with users of their own cannot.
    ...unlessGiven(settings.sandboxUsers, () => 'shared'),
    ...unlessGiven(settings.egressAllowPrivate, () => '127.0.0.0/8,::1'),
    ...unlessGiven(settings.egressTenantTargets, () => localModels),
    MALLOC_TRIM_THRESHOLD_: '1048576',
    ...environment,
    ...(needsEffort && { [egressProfile.name]: 'best_effort' }),
    [settings.dataDir.name]: folder,
    [settings.port.name]: port,
    [settings.host.name]: host,
    ...unlessGiven(rootSecret, () => keepSecret(folder, 'root-secret')),
    ...unlessGiven(apiKey, () => keepSecret(folder, 'api-key', 'stw_key_')),
  }
  const key = given({ ...variables, ...env }, apiKey)
  return { folder, port, base: `http://${hostToOpen(host)}:${port}`, env, variables, apiKey: key }
}

/** Waits until the process has ended, and says so every five seconds. */
async function awaitEnd(pid: number): Promise<void> {
  for (let waited = 1; findProcess(pid); waited++) {
    await pause(200)
    if (waited % 25 === 0)
      printLine(
        `still stopping after ${waited / 5} seconds: the server leaves its turns and sandboxes (${command} stop again ends it at once)`,
      )
  }
}

export async function stopTrial(environment: Variables): Promise<void> {
  const folder = folderOf(await gatherOrStop(environment))
  const server = findServer(folder)
  if (!server) return void printLine('no server was running')
  process.kill(server.pid)
  await awaitEnd(server.pid)
  forgetServer(folder, server)
  printLine('stopped')
}

const ownProgram = (...words: string[]): string[] => [
  '--max-semi-space-size=8',
  process.argv[1] ?? '',
  ...words,
]

/** Ends this process when the server could not work here, with what to do. */
function checkMachine(env: Trial['env']): void {
  const { status, stdout } = spawnSync(process.execPath, ownProgram('doctor'), {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0)
    exitWithLines(stdout.split('\n').filter((line) => line && !line.startsWith('✓')))
}

/** Returns the link of the first sign-in, if the server has printed one. */
async function startServer({ folder, port, base, env }: Trial): Promise<string | undefined> {
  checkMachine(env)
  const path = join(folder, 'server.log')
  say(`Starting the server on ${base} (log: ${path}).`)
  const { file, printed } = openTrialLog(path)
  const child = spawn(process.execPath, isBuilt ? ownProgram('start') : ownProgram(), {
    env,
    detached: true,
    stdio: ['ignore', file, file],
  })
  const end = () => void child.kill()
  process.once('SIGINT', end).once('SIGTERM', end)
  const { pid = 0 } = child
  // Attack: another account answers at this port. The server's own line says that the server listens there.
  const isReady = async () =>
    printed().includes('"message":"listening"') && (await readReadiness(base)).state === 'ready'
  for (let tries = 0; !(await isReady()); tries++) {
    if (tries < 150 && findProcess(pid)) await pause(200)
    else {
      child.kill()
      process.stderr.write(`${printed().split('\n').slice(-20).join('\n')}\n`)
      stopWith('The server did not start; the end of its log is above.')
    }
  }
  const started = findProcess(pid)
  if (!started) return stopWith('The server has ended; its log says why.')
  recordServer(folder, started, port)
  process.off('SIGINT', end).off('SIGTERM', end)
  child.unref()
  const text = printed()
  closeSync(file)
  return /"link":"([^"]*)"/.exec(text)?.[1]
}

/** The key is sent to no server but the one that `try` has started with this folder. */
function checkOwnServer({ folder, port, base }: Trial): void {
  if (findServer(folder)?.port === port) return
  stopWith(
    `The server on ${base} is not the one that ${command} starts with ${folder}, and is not sent its key: PORT=${Number(port) + 1} ${command} starts one beside it, or ${command} stop there ends it.`,
  )
}

async function findOrStart(trial: Trial): Promise<string | undefined> {
  const { base, folder } = trial
  let readiness = await readReadiness(base)
  if (readiness.state === 'stopping') say(`The server on ${base} is stopping; waiting for its end.`)
  const stopping = readiness.state === 'stopping' ? findServer(folder) : undefined
  if (stopping) await awaitEnd(stopping.pid)
  while (readiness.state === 'stopping') {
    await pause(500)
    readiness = await readReadiness(base)
  }
  if (readiness.state === 'unready')
    stopWith(`A server on ${base} answers, and cannot serve: ${readiness.why}`)
  if (readiness.state !== 'ready') return startServer(trial)
  checkOwnServer(trial)
  say(`A server already answers on ${base}; using it, with the settings that it was started with.`)
  return undefined
}

export async function tryOut(environment: Variables): Promise<void> {
  const trial = await prepareTrial(environment)
  const signInLink = await findOrStart(trial)
  const { base, folder: dataFolder, variables, apiKey } = trial
  await fetchByProxies(variables)
  await runFirstTurn({ base, apiKey, dataFolder, signInLink, command, environment: variables })
}
