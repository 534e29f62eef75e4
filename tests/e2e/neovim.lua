-- Neovim 0.7 or newer, headless, as a client of the language server: opens LSP_FILE, writes a line, asks for both kinds
-- of completion, and prints the answers, one a line.
local function say(word, value)
  io.stdout:write(word .. ' ' .. value .. '\n')
end

vim.cmd('edit ' .. vim.fn.fnameescape(os.getenv('LSP_FILE')))
local buffer = vim.api.nvim_get_current_buf()
vim.bo[buffer].filetype = 'python'
local ready = false
local id = vim.lsp.start_client({
  name = 'glm',
  cmd = { os.getenv('LSP_SERVER') },
  root_dir = vim.fn.getcwd(),
  handlers = {
    ['glm/status'] = function(_, status)
      ready = ready or status.state == 'ready'
    end,
    ['glm/nothing'] = function() end,
  },
  on_exit = function(code, signal)
    say('exit', code .. ' ' .. signal)
  end,
})
vim.lsp.buf_attach_client(buffer, id)
vim.wait(30000, function() return ready end, 20)
local count = vim.api.nvim_buf_line_count(buffer)
vim.api.nvim_buf_set_lines(buffer, count, count, false, { '        json.' })
local params = {
  textDocument = vim.lsp.util.make_text_document_params(buffer),
  position = { line = count, character = 13 },
}
local client = vim.lsp.get_client_by_id(id)
local answer = client.request_sync('textDocument/completion', params, 20000, buffer)
say('completion', vim.fn.json_encode(answer or {}))
params.context = { triggerKind = 2 }
answer = client.request_sync('textDocument/inlineCompletion', params, 20000, buffer)
say('inline', vim.fn.json_encode(answer or {}))
client.stop()
vim.wait(3000, function() return client.is_stopped() end, 20)
vim.wait(200, function() return false end)
vim.cmd('qa!')
