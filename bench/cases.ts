/** The cases, in the order in which they run. */
import { workspaces } from './cases/checkpoints.ts'
import { consolePages } from './cases/console.ts'
import { egress } from './cases/egress.ts'
import { evals } from './cases/evals.ts'
import { givenFiles } from './cases/files.ts'
import { forks } from './cases/forks.ts'
import { largeFiles } from './cases/large-files.ts'
import { memories } from './cases/memory.ts'
import { liveWords } from './cases/live-words.ts'
import { identities } from './cases/identities.ts'
import { lists } from './cases/lists.ts'
import { limits } from './cases/limits.ts'
import { openaiSurface } from './cases/openai.ts'
import { integrations } from './cases/integrations.ts'
import { packages } from './cases/packages.ts'
import { idleStreams, kills, starts } from './cases/process.ts'
import { repositories } from './cases/repositories.ts'
import { appends, pages, requests } from './cases/requests.ts'
import { sessionInputs } from './cases/session-inputs.ts'
import type { BenchSetup } from './cases/setup.ts'
import { slowDisk } from './cases/slow-disk.ts'
import { teams } from './cases/teams.ts'
import { soak } from './cases/soak.ts'
import { tracedTurns } from './cases/traces.ts'
import {
  bashTurns,
  closedLoop,
  compactedSession,
  longSession,
  manySessions,
  sandboxBurst,
  shortTurns,
} from './cases/turns.ts'
import { work } from './cases/work.ts'
import type { Figure } from './figures.ts'
import type { Program } from './required-programs.ts'
import { serverPrograms } from './required-programs.ts'

export const databases = ['sqlite', 'postgres'] as const
export type Database = (typeof databases)[number]

type Stage = {
  folder: string
  env: Record<string, string>
  minutes: number
  /** The server that several cases share. It lasts until a case starts its own server. */
  shared: () => Promise<BenchSetup>
  setUp: (base: string) => Promise<BenchSetup>
}

type Case = {
  name: string
  measures: string
  /** Programs that the case needs in addition to the programs of a server. */
  programs?: readonly Program[]
  /** The case measures the machine alone and starts no server. */
  withoutServer?: boolean
  /** The case runs on SQLite only, because its figures do not depend on the database. */
  sqliteAlone?: boolean
  /** The case takes hours and runs only when the command line names it. */
  onlyNamed?: boolean
  sharesServer?: boolean
  run: (stage: Stage) => AsyncGenerator<Figure>
}

async function* onShared(
  { shared }: Stage,
  run: (setup: BenchSetup) => AsyncGenerator<Figure>,
): AsyncGenerator<Figure> {
  yield* run(await shared())
}

const sharing = (
  name: string,
  measures: string,
  run: (setup: BenchSetup) => AsyncGenerator<Figure>,
): Case => ({ name, measures, sharesServer: true, run: (stage) => onShared(stage, run) })

export const cases: readonly Case[] = [
  {
    name: 'limits',
    measures: 'what this machine gives without the service',
    withoutServer: true,
    run: ({ folder, env }) => limits(folder, env),
  },
  {
    name: 'start',
    measures: 'how long a server takes to answer, and its memory',
    run: ({ folder, env }) => starts(folder, env),
  },
  sharing('requests', 'plain requests a second', requests),
  sharing('shortTurns', 'turns of one token', shortTurns),
  {
    name: 'tracedTurns',
    measures: 'the same with traces, beside a server without',
    sqliteAlone: true,
    run: ({ folder, env, setUp }) => tracedTurns(folder, env, setUp),
  },
  sharing('bashTurns', 'turns with a command', bashTurns),
  sharing('sandboxBurst', '100 sandboxes started at once', sandboxBurst),
  sharing('givenFiles', 'files that a session brings in', givenFiles),
  sharing('manySessions', '200 sessions at once', manySessions),
  sharing('closedLoop', 'turns of 64 sessions that never rest', closedLoop),
  sharing('teams', 'agents of one session that work side by side', teams),
  sharing('evals', 'trials of an agent, and a session that is replayed', evals),
  sharing('pages', 'pages of a long log', pages),
  sharing('lists', 'lists of 10,000 sessions, and their overview', lists),
  sharing('openai', 'what /openai/v1 takes beside /v1', openaiSurface),
  sharing('integrations', 'deliveries of integrations', integrations),
  sharing('appends', 'events posted a second', appends),
  sharing('longSession', 'a turn late in a session beside an early one', longSession),
  sharing('compactedSession', 'the same where summaries are made', compactedSession),
  {
    name: 'identities',
    measures: 'what a request by a token of an identity provider takes beside one by key',
    run: ({ folder, env, setUp }) => identities(folder, env, setUp),
  },
  {
    name: 'forks',
    measures: 'forks of a long session with a large workspace',
    programs: ['tar'],
    run: ({ folder, env, setUp }) => forks(folder, env, setUp),
  },
  {
    name: 'liveWords',
    measures: 'words of 10,000 streams that another process reads, by both transports',
    programs: ['nats-server'],
    withoutServer: true,
    sqliteAlone: true,
    run: liveWords,
  },
  {
    name: 'idleStreams',
    measures: 'memory of 2,000 streams',
    run: ({ folder, env, setUp }) => idleStreams(folder, env, setUp),
  },
  {
    name: 'slowDisk',
    measures: 'a server whose disk takes 4 ms a sync',
    programs: ['cc'],
    sqliteAlone: true,
    run: ({ folder, env, setUp }) => slowDisk(folder, env, setUp),
  },
  {
    name: 'kills',
    measures: 'turns that go on after kill -9',
    run: ({ folder, env, setUp }) => kills(folder, env, setUp),
  },
  {
    name: 'work',
    measures: 'the queue of workers',
    run: ({ folder, env, setUp }) => work(folder, env, setUp),
  },
  {
    name: 'largeFiles',
    measures: 'uploads and downloads of large files',
    run: ({ folder, env }) => largeFiles(folder, env),
  },
  {
    name: 'egress',
    measures: 'requests out of a sandbox',
    programs: ['openssl'],
    run: ({ folder, env, setUp }) => egress(folder, env, setUp),
  },
  {
    name: 'workspaces',
    measures: 'checkpoints of working folders',
    programs: ['tar'],
    sqliteAlone: true,
    run: ({ folder }) => workspaces(folder),
  },
  {
    name: 'memory',
    measures: 'memory stores in sandboxes',
    sqliteAlone: true,
    run: () => memories(),
  },
  {
    name: 'sessionInputs',
    measures: 'a session with skills, stores and files',
    sqliteAlone: true,
    run: () => sessionInputs(),
  },
  {
    name: 'repositories',
    measures: 'a session with a repository',
    programs: ['git', 'openssl'],
    sqliteAlone: true,
    run: () => repositories(),
  },
  {
    name: 'packages',
    measures: 'an environment with packages',
    programs: ['cargo', 'go', 'openssl', 'pip3', 'ruby', 'tar'],
    sqliteAlone: true,
    run: () => packages(),
  },
  {
    name: 'console',
    measures: 'the console in Chromium',
    programs: ['chromium'],
    sqliteAlone: true,
    run: ({ folder, env, setUp }) => consolePages(folder, env, setUp),
  },
  {
    name: 'soak',
    measures: 'memory over hours of load',
    onlyNamed: true,
    run: ({ folder, env, setUp, minutes }) => soak(folder, env, { setUp, minutes }),
  },
]

/** All programs that have to be installed for the case. */
export const programsOf = ({ programs = [], withoutServer = false }: Case): readonly Program[] =>
  withoutServer ? programs : [...serverPrograms, ...programs]

/** Returns the case of that name, or all cases whose names contain the word. Without a word: all except the longest. */
export function casesNamed(word: string | undefined): readonly Case[] {
  if (word === undefined) return cases.filter(({ onlyNamed }) => !onlyNamed)
  const exact = cases.filter(({ name }) => name === word)
  return exact.length > 0
    ? exact
    : cases.filter(({ name, onlyNamed }) => !onlyNamed && name.includes(word))
}
export type { Case }
