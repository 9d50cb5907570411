/** The setting that server and worker have in common, since both write the log. */
import { logLevels } from '../log.ts'
import { choice } from './kinds.ts'
import { setting } from './setting.ts'

export const logLevel = setting('STEWARD_LOG_LEVEL', choice(logLevels), {
  default: 'info',
  about: 'least level that the program logs',
})
