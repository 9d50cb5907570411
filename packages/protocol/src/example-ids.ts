/** Ids in the examples of requests. The test of the examples replaces them by ids of existing resources. */
export const exampleIds = {
  agent: 'agent_018f3c2a7b1d7000a1b2c3d4e5f60718',
  checkpointPart: 'chkpt_018f3c2a7b1d7007a1b2c3d4e5f60718',
  environment: 'env_018f3c2a7b1d7002a1b2c3d4e5f60718',
  memoryStore: 'memstore_018f3c2a7b1d7000a1b2c3d4e5f60718',
  session: 'sesn_018f3c2a7b1d7004a1b2c3d4e5f60718',
  workspace: 'wrkspc_018f3c2a7b1d7003a1b2c3d4e5f60718',
  person: 'user_01a05e1b3c4d7e8f9a0b1c2d3e4f5061',
  installation: 'inst_018f3c2a7b1d7003a1b2c3d4e5f60718',
  file: 'file_018f3c2a7b1d7003a1b2c3d4e5f60718',
  model: 'offline',
} as const

/** The hash of `text`. */
export const exampleHash = '982d9e3eb996f559e633f4d194def3761d909f5a3b647d1a851fead67c32c9d1'
