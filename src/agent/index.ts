export { openModel, type OpenModelOptions } from "./models/open-model.ts";
export { callOptionsOf } from "./models/request.ts";
export type { AgentModel, ModelGiven, Price } from "./models/model.ts";
export type {
  Asked,
  Finish,
  ModelAnswer,
  ModelEvent,
  ModelRequest,
  ToolDefinition,
} from "./models/model-answer.ts";
export type {
  StandardIssue,
  StandardResult,
  StandardSchema,
  Tool,
  ToolOutput,
  ToolRun,
} from "#turn/effects/tool";
