/** The programs of a build by the names of their files, and their sources from the root of the repository. */
const server = 'packages/server/src'

export const programs = {
  server: `${server}/main.ts`,
  worker: 'packages/worker/src/main.ts',
  harness: 'packages/worker/src/harness/main.ts',
  'write-ahead-log-thread': `${server}/ground/database/write-ahead-log-thread.ts`,
  'line-diff-thread': `${server}/engine/folders/line-diff-thread.ts`,
  'live-index-thread': `${server}/engine/folders/live-index-thread.ts`,
  'page-converter': 'packages/harness/src/tools/web-fetch/convert.ts',
} as const

/** Every package is bundled but this one: a program of its own, in a package for each platform. */
export const isBundled = (name: string): boolean => name !== '@vscode/ripgrep'
