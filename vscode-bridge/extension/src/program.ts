// Where the programs are, and the settings as the server takes them.
import * as fs from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";

export function settings(): vscode.WorkspaceConfiguration {
  return vscode.workspace.getConfiguration("glm");
}

export function serverProgram(context: vscode.ExtensionContext): string | undefined {
  const named = settings().get<string>("serverPath", "");
  if (named !== "") return fs.existsSync(named) ? named : undefined;
  const name = process.platform === "win32" ? "glm-language-server.exe" : "glm-language-server";
  const own = path.join(context.extensionPath, "server", name);
  if (!fs.existsSync(own)) return undefined;
  // A package is a zip file, which some editors unpack without the right to run.
  if (process.platform !== "win32") {
    try {
      fs.accessSync(own, fs.constants.X_OK);
    } catch {
      fs.chmodSync(own, 0o755);
    }
  }
  return own;
}

export function serverEnvironment(): NodeJS.ProcessEnv {
  const home = settings().get<string>("hostHome", "");
  return home === "" ? process.env : { ...process.env, GLM_HOST_HOME: home };
}

export function serverSettings(): Record<string, unknown> {
  const own = settings();
  return {
    enabled: own.get("enabled", true),
    model: own.get("model", ""),
    exclude: own.get("exclude", []),
    disabledLanguages: own.get("disabledLanguages", []),
    minimumConfidence: own.get("minimumConfidence", 0.6),
    computeAhead: own.get("computeAhead", true),
    contextFromOtherFiles: own.get("contextFromOtherFiles", true),
    alternatives: own.get("alternatives", 3),
    startDaemon: own.get<string>("startDaemon", "ask") === "always",
    glmPath: own.get("glmPath", ""),
  };
}
