#!/usr/bin/env node
/** The command line of the worker: claims sessions of one environment and runs their tools on this machine. */
import { parseArgs } from 'node:util'
import { isBuilt, workerCommand } from '@steward/base/own-command.ts'
import {
  configVerbs,
  isConfigVerb,
  runConfigCommand,
} from '@steward/base/settings/config-command.ts'
import { settingsHelp } from '@steward/base/settings/program.ts'
import { readConfig, readGivenConfig, workerConfiguration } from './config.ts'
import { jsonLog } from '@steward/base/log.ts'
import { logUnhandledFailures } from '@steward/base/unhandled-failures.ts'
import { workerSettings } from './settings.ts'

const usage = `The worker: runs the tools of a service's sessions on this machine.

The model is called by the service; bash, read, write, edit, glob and grep run here, each session in a sandbox of its own.
Nobody connects to this machine: the worker asks the service for work.

  1. Make an environment of type self_hosted, and a key for it:
       curl $URL/v1/environments -H "x-api-key: $KEY" -H 'content-type: application/json' \\
         -d '{"name": "mine", "config": {"type": "self_hosted"}}'
       curl $URL/v1/ext/api_keys -H "x-api-key: $KEY" -H 'content-type: application/json' \\
         -d '{"name": "my worker", "environment_id": "…"}'
  2. Start the worker:
       WORKER_BASE_URL=$URL WORKER_ENVIRONMENT_ID=… WORKER_ENVIRONMENT_KEY=… ${isBuilt ? 'steward worker' : 'npm run worker'}
  3. Create sessions with that environment_id. SIGTERM ends the worker, and what it had goes to another one.

  ${workerCommand} --help      this text
  ${workerCommand} config check
                               say what is wrong with the settings, and where each problem is;
                               show: each setting, without secrets, and where its value comes from; --json: as JSON
                               schema, example: the JSON Schema of a settings file, and one with every setting

Settings, by variables or by the file that SETTINGS_FILE names; NAME_FILE names a file with the secret NAME (docs/settings.md):
${settingsHelp(workerSettings)}

docs/workers.md has more.
`

function fail(lines: string[]): never {
  process.stderr.write(`${lines.join('\n')}\n`)
  process.exit(1)
}

async function runConfig(
  [command, verb, ...others]: readonly string[],
  { isJson }: { isJson: boolean },
): Promise<void> {
  if (command !== 'config' || !isConfigVerb(verb) || others.length > 0)
    return fail([
      `steward: the worker takes no argument, or config with ${configVerbs.join(', ')}. ${workerCommand} --help says more.`,
    ])
  const { lines, problems } = await runConfigCommand(
    {
      ...workerConfiguration,
      problemsOf({ variables, ...sources }) {
        const read = readConfig(variables, sources)
        return read.ok ? [] : read.problems
      },
    },
    { verb, isJson },
    process.env,
  )
  if (problems.length > 0) return fail([...problems])
  process.stdout.write(`${lines.join('\n')}\n`)
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { help: { type: 'boolean', short: 'h' }, json: { type: 'boolean' } },
    allowPositionals: true,
  })
  if (values.help) {
    process.stdout.write(usage)
    return
  }
  if (positionals.length > 0 || values.json)
    return runConfig(positionals, { isJson: values.json ?? false })
  const read = await readGivenConfig(process.env)
  if (!read.ok)
    return fail(['The worker does not start:', ...read.problems.map((problem) => `  ${problem}`)])
  if (read.config.sandbox.provider === 'bubblewrap') {
    const { enterOwnUsers } = await import('@steward/sandbox/own-users.ts')
    enterOwnUsers()
  }
  const log = jsonLog((line) => process.stderr.write(line), read.config.logLevel)
  logUnhandledFailures(log)
  const stopping = new AbortController()
  const stop = (signal: string): void => {
    if (stopping.signal.aborted) process.exit(1)
    log.info('stopping', { signal })
    stopping.abort()
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  const { startWorker } = await import('./start.ts')
  await startWorker(read.config, log, stopping.signal)
}

main().then(
  () => process.exit(0),
  (error: Error) => fail([`The worker stopped: ${error.message}`]),
)
