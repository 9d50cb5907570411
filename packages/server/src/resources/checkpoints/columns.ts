import type { CheckpointParts } from '@steward/protocol/checkpoints.ts'

/** The archives of a checkpoint, as a row has them. */
export const toCheckpointColumns = ({ base, delta }: CheckpointParts) => ({
  base_key: base.key,
  base_size: base.size,
  base_sha256: base.sha256,
  delta_key: delta?.key ?? null,
  delta_size: delta?.size ?? null,
  delta_sha256: delta?.sha256 ?? null,
})
