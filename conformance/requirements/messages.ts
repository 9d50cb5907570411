// Written by scripts/requirements.ts from docs/interface.md.
import type { Requirement } from '../specification.ts'

// oxfmt-ignore
export const messages = {
  'messages/off': { section: '27 Messages', says: 'Where the setting is off, `/v1/messages` and all below it is 404 and named as not offered. Message batches are not offered in either case.' },
  'messages/switch': { section: '27 Messages', says: 'A workspace-admin key and the operator switch it off for a workspace: by the quota `messages` with the value 0, which refuses with 403. Above 0 the quota is the number of requests at once, in each process; one too many is 429.' },
  'messages/model': { section: '27 Messages', says: '`model` is a model of the workspace, by the names of `GET /v1/models`; an unknown one is 404. The answer\'s `model` is the name that was asked for.' },
  'messages/create': { section: '27.1 Asking', says: 'The official client works unmodified, old and new: `messages.create`, `messages.stream` and `messages.countTokens`, and the same below `beta`.' },
  'messages/stream': { section: '27.1 Asking', says: 'A stream has the events `message_start`, `content_block_start`, `content_block_delta`, `content_block_stop`, `message_delta`, `message_stop` and `ping`. One that fails ends with `error`.' },
  'messages/passed-on': { section: '27.1 Asking', says: 'A model of a card that speaks `anthropic-messages` gets the request as it is, with its own name in `model`, the key of its card, and the caller\'s `anthropic-version` and `anthropic-beta`; no other header of the caller. Its answer is passed on as it came but for `model`, and a key that it repeats is covered.' },
  'messages/translated': { section: '27.1 Asking', says: 'For other models the request is translated: texts, images, documents, tools, their calls and results, thoughts with their signatures, `tool_choice`, `temperature`, `top_p` and `stop_sequences` as far as their wire has them, and effort from `output_config.effort` or the budget of `thinking`. `cache_control`, `metadata` and `service_tier` mean nothing there. The offline model is one of them.' },
  'messages/whole-calls': { section: '27.1 Asking', says: 'A call of a tool whose input is not whole JSON is no answer of a translated model: the request fails.' },
  'messages/refusals': { section: '27.1 Asking', says: 'Refused with 400 by name: tools that a provider runs, and their blocks, because they are not counted here; `mcp_servers`, `container`, `fallbacks`, `compaction` and edits that summarise; `speed: fast`, whose price is not known; files by their ids; and every unknown field. So is what the wire of the model cannot say.' },
  'messages/errors': { section: '27.1 Asking', says: 'An error is `{type: \'error\', error: {type, message}, request_id}` with the types of the official client. A refused key of the card is 502, so that no caller takes it for theirs; a limit of the provider is 429 with `retry-after`; an overloaded provider is 503 with `overloaded_error`.' },
  'messages/left': { section: '27.1 Asking', says: 'A caller that goes away ends the request at the provider.' },
  'messages/count-tokens': { section: '27.1 Asking', says: '`count_tokens` answers the provider\'s count where the model\'s wire has it. Else it answers the estimate of `/v1/ext/token_estimates`, with `is_estimate: true` and `method`.' },
  'messages/spend': { section: '27.2 What a request counts as', says: 'Spend limits refuse a request before it begins, with 403 and `billing_error`, and count what it used: as the provider says, or by the length of what came where the caller went away.' },
  'messages/counted': { section: '27.2 What a request counts as', says: 'A request is recorded before its model is asked. One whose process dies is counted within a minute after another has noticed, by the estimate of its input.' },
  'messages/usage': { section: '27.2 What a request counts as', says: 'Reports of usage show these requests by `model` and by `api_key_id`, the key or the person that asked. They have no session and no agent.' },
  'messages/audit': { section: '27.2 What a request counts as', says: 'Each request has a line in the audit, `message.create`, with the id of the request and the name of the model, and nothing of its contents.' },
  'messages/rate': { section: '27.2 What a request counts as', says: 'Requests belong to the class `messages` of rate limits.' },
  'messages/who': { section: '27.2 What a request counts as', says: 'Environment keys, claims and read-only keys are refused with 403.' },
} satisfies Record<string, Requirement>
