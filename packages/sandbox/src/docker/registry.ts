export const registry = async () => ({ address: '127.0.0.1:5000', async close() {} })
