/** Set by the build: who runs one has the command `steward`, and no npm scripts. */
declare const STEWARD_IS_BUILT: boolean | undefined

export const isBuilt = typeof STEWARD_IS_BUILT !== 'undefined'

/** How the command line of the server is called, for texts that tell a person what to run. */
export const serverCommand = isBuilt ? 'steward' : 'npm start --'
export const workerCommand = isBuilt ? 'steward worker' : 'npm run worker --'
export const startCommand = isBuilt ? 'steward start' : 'npm start'
