import { sandboxContract } from '../contract.ts'
import { bubblewrapSandboxes } from './bubblewrap.ts'

const module = import.meta.resolve('./bubblewrap.ts')
sandboxContract('bubblewrap', bubblewrapSandboxes, { module })
