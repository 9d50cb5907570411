/** The part that answers `/v1/messages`. */
import { messageCounting } from '../engine/models/messages/counting.ts'
import type { Config } from '../ground/config/config.ts'
import type { Ground } from '../ground/ground.ts'
import { conversationNames } from '../resources/model-cards/conversation-names.ts'
import { modelReach } from '../resources/model-cards/resolve.ts'
import type { Limits } from '../tenants/limits/limits.ts'
import type { Shares } from './shares.ts'

export const openMessages = (
  config: Config,
  { limits, shares, ...ground }: Ground & { limits: Limits; shares: Shares },
) => ({
  messagesApi: config.messagesApi,
  messageCounting: messageCounting({ ...config, ...ground, spending: limits.spending }),
  messageSlots: shares.messages,
  reachModel: modelReach({
    ...config,
    ...ground,
    nameConversation: conversationNames(config),
  }),
})
