// Written by scripts/uncovered.ts: delivered requirements that no test cites. Only ever shorter.
import type { RequirementId } from './requirements.ts'

// oxfmt-ignore
export const uncovered: readonly RequirementId[] = [
]
