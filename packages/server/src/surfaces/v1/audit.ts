/**
 * Routes whose calls have no audit line of their own, each with the reason, and routes whose path does not name their
 * action.
 */
import type { AuditExceptions } from '../../ground/http/route-audit.ts'

const logins = 'the login of a client is told in the unit that begins or ends it'
const people = 'what becomes of a sign-in or a person is told in the unit of the change'

export const auditExceptions: AuditExceptions = {
  'post /v1/sessions/:id/events': {
    reason: 'the log of the session is the record',
    counted: 'session.post',
  },
  'post /v1/sessions/:id/messages': {
    reason: 'the log of the session is the record',
    counted: 'session.post',
  },
  'post /v1/ext/sessions/:id/waiting_messages/:message': {
    reason: 'the log of the session is the record',
  },
  'delete /v1/ext/sessions/:id/waiting_messages/:message': {
    reason: 'the log of the session is the record',
  },
  'post /openai/v1/agents/sessions/:id/events': {
    reason: 'the log of the session is the record',
    counted: 'session.post',
  },
  'delete /openai/v1/agents/sessions/:id/artifacts/:artifact_id': { type: 'file' },
  'post /openai/v1/agents/automations': { type: 'deployment' },
  'post /openai/v1/agents/automations/:id': { type: 'deployment' },
  'delete /openai/v1/agents/automations/:id': { type: 'deployment', action: 'deployment.archive' },
  'post /openai/v1/agents/automations/:id/pause': { type: 'deployment' },
  'post /openai/v1/agents/automations/:id/resume': {
    type: 'deployment',
    action: 'deployment.unpause',
  },
  'post /openai/v1/agents/automations/:id/invocations': { type: 'deployment_run' },
  'post /openai/v1/skills/:id': { reason: 'it accepts what is so already' },
  'post /openai/v1/skills/:id/versions': { type: 'skill_version' },
  'delete /openai/v1/skills/:id/versions/:version': { type: 'skill_version' },
  'post /openai/v1/agents/environments/templates': { type: 'environment' },
  'post /openai/v1/agents/environments/templates/:id': { type: 'environment' },
  'delete /openai/v1/agents/environments/templates/:id': { type: 'environment' },
  'post /openai/v1/agents/environments/:id/files': {
    action: 'environment.update',
    type: 'environment',
  },
  'post /v1/ext/retention': { type: 'retention', action: 'retention.update' },
  'post /v1/ext/people/:id/export': { type: 'user', action: 'user.export', chain: 'deployment' },
  'delete /v1/ext/people/:id': { type: 'user', action: 'user.delete', chain: 'deployment' },
  'post /v1/ext/rules': { type: 'rule', action: 'rule.update' },
  'post /v1/ext/model_cards/:id/probe': { reason: 'nothing changes' },
  'post /v1/ext/stream/:id': { reason: 'nothing changes' },
  'post /v1/ext/token_estimates': { reason: 'nothing changes' },
  'post /v1/messages/count_tokens': { reason: 'nothing changes' },
  'post /v1/ext/views': { reason: 'a view concerns its owner alone' },
  'delete /v1/ext/views/:id': { reason: 'a view concerns its owner alone' },
  'post /v1/ext/me/looked': { reason: 'it concerns the person alone' },
  'post /v1/ext/deployments/:id/trigger': { reason: 'the run of the deployment is the record' },
  'post /v1/organizations/invites': { type: 'invitation' },
  'delete /v1/organizations/invites/:id': { type: 'invitation' },
  'post /v1/organizations/users/:id': { type: 'member' },
  'delete /v1/organizations/users/:id': { type: 'member' },
  'post /v1/organizations/workspaces/:id/members': {
    told: 'it adds nobody, and a change of the role is told',
    type: 'member',
    action: 'member.update',
  },
  'post /v1/organizations/workspaces/:id/members/:user_id': { type: 'member' },
  'delete /v1/organizations/workspaces/:id/members/:user_id': { type: 'member' },
  'post /v1/organizations/webhooks': { type: 'webhook_endpoint' },
  'post /v1/organizations/webhooks/:id': { type: 'webhook_endpoint' },
  'delete /v1/organizations/webhooks/:id': { type: 'webhook_endpoint' },
  'post /v1/organizations/webhooks/:id/regenerate_signing_secret': {
    type: 'webhook_endpoint',
    action: 'webhook_endpoint.rotate_secret',
  },
  'post /v1/ext/integrations/:app/webhook': {
    told: 'the delivery and its session are the record; the end of an installation is told',
    type: 'integration',
  },
  'post /v1/ext/integrations/:app/install': {
    reason: 'nothing is there before the browser has come back, and what it then makes is told',
  },
  'post /v1/ext/integrations/:app/callback': {
    told: 'the path names the kind, and the change the installation',
    type: 'integration',
  },
  'get /v1/ext/integrations/:app/callback': {
    told: 'the path names the kind, and the change the installation',
    type: 'integration',
  },
  'post /v1/ext/integrations/:app/uninstall': {
    told: 'the path names the kind, and the change the installation',
    type: 'integration',
  },
  'post /v1/ext/integrations/webhook/webhook/:pub_id': {
    reason: 'the delivery and its session are the record',
  },
  'post /v1/ext/deployments/:id/trigger_secret': {
    type: 'deployment',
    action: 'deployment.rotate_trigger_secret',
  },
  'delete /v1/ext/deployments/:id/trigger_secret': {
    type: 'deployment',
    action: 'deployment.delete_trigger_secret',
  },
  'post /v1/ext/models/list': { reason: 'reads, and changes nothing' },
  'post /v1/ext/replays': {
    type: 'session',
    action: 'session.create',
    told: 'only a session that goes on is a change, and its fork tells of it',
  },
  'post /v1/ext/mcp-proxy/:session_id/:server_name': {
    reason: 'each call is in the trail of credentials',
  },
  'delete /v1/ext/mcp-proxy/:session_id/:server_name': {
    reason: 'each call is in the trail of credentials',
  },
  'post /v1/ext/mcp-proxy/:session_id/:server_name/token': {
    action: 'mcp_token.create',
    type: 'mcp_token',
  },
  '/v1/ext/model-gateway/*': {
    reason: 'a request of a turn: the log of the session is the record',
  },
  '/v1/ext/egress/*': { reason: 'each call is in the trail of credentials' },
  '/v1/ext/checkpoints/*': { reason: 'the working folder of a turn, under its claim' },
  '/v1/ext/inputs/*': {
    reason: 'memories keep their versions, and the log of the session the rest',
  },
  '/v1/ext/outputs/*': { reason: 'files of a turn: the log of the session is the record' },
  '/v1/ext/command-output/*': { reason: 'live words of a turn, which are kept nowhere' },
  '/v1/ext/stdio-servers/*': { reason: 'what a worker has started, under its claim' },
  'post /v1/environments/:id/work/:work/ack': { reason: 'a step of a claim' },
  'post /v1/environments/:id/work/:work/heartbeat': { reason: 'a sign of life' },
  'post /v1/environments/:id/work/:work/stop': {
    reason: 'workers end each turn by it',
    callers: ['environment', 'claim'],
  },
  'post /v1/environments/:id/work/:work': {
    reason: 'workers note their progress by it',
    callers: ['environment', 'claim'],
  },
  'patch /v1/environments/:id/work/:work': {
    reason: 'workers note their progress by it',
    callers: ['environment', 'claim'],
  },
  'post /v1/skills/:id/versions': { type: 'skill_version' },
  'delete /v1/skills/:id/versions/:version': { type: 'skill_version' },
  'post /v1/sessions/:id/resources': { type: 'session_resource' },
  'post /v1/sessions/:id/resources/:resource': { type: 'session_resource' },
  'delete /v1/sessions/:id/resources/:resource': { type: 'session_resource' },
  'post /v1/ext/auth/code': { reason: 'sends an email: the use of its code is told' },
  'post /v1/ext/auth/reset': { reason: 'sends an email: the use of its link is told' },
  'delete /v1/ext/me': { action: 'user.delete', type: 'user', chain: 'deployment' },
  'post /v1/ext/auth/leave': { action: 'member.leave', type: 'member' },
  '/v1/ext/auth/*': { told: people },
  '/v1/ext/oauth/*': { told: people },
  '/signin*': { told: people },
  '/v1/oauth/*': { told: logins },
  '/oauth/*': { told: logins },
  'post /v1/organizations/workspaces': { chain: 'deployment' },
  // The line goes into the deployment's chain, because the workspace's chain is deleted with the workspace.
  'delete /v1/organizations/workspaces/:id': { chain: 'deployment' },
  'post /v1/organizations/workspaces/:id': { chain: 'id' },
  'post /v1/organizations/workspaces/:id/archive': { chain: 'id' },
  'post /v1/organizations/workspaces/:id/rate_limits/:rate_limit_id': { chain: 'id' },
}
