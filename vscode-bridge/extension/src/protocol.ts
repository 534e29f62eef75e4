// What the language server says beyond LSP.

export interface Status {
  state: "starting" | "noDaemon" | "idle" | "loading" | "ready" | "failed" | "off" | "paused";
  message: string;
  model: string;
  loadPercent: number;
  tokensPerSecond: number;
  queue: { waiting: number; running: number };
}

export interface Nothing {
  uri: string;
  code: string;
  reason: string;
}
